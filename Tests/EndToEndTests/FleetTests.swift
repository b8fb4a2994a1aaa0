import Foundation
import PipelineControl
import TestTools
import Testing

/// Two real daemons, `a` with one place and `b` with two, that meet at a real server.
@Suite("A fleet", .enabled(if: NATSServer.program != nil, "there is no NATS server here"))
struct FleetTests {
    /// Waits for ever.
    private static let waits = Plugin(name: "waits", body: "for (;;) usleep(20000);")

    private static func files(_ name: String, _ server: NATSServer, _ more: String) -> [String: String] {
        [
            "etc/pipelined.conf": """
            [Daemon]
            CancelGrace=0s
            DrainTimeout=0s
            [Queues]
            Render=\(name == "a" ? 1 : 2)
            [Fleet]
            Servers=\(server.url)
            Name=\(name)
            Give=always
            \(more)
            """,
            "etc/recipes.d/home.recipe": "[Recipe]\nFleet=no\n[Output]\nChain=waits\n",
            "etc/recipes.d/far.recipe": "[Output]\nChain=resize scale=0.5\n",
            "etc/recipes.d/held.recipe": "[Output]\nChain=waits\n",
        ]
    }

    private struct Pair {
        let a: DaemonFixture
        let b: DaemonFixture
        let server: NATSServer

        /// What `a` has published.
        var published: [String] { a.files(in: "outbox").filter { !$0.contains(".staging") } }

        /// Fills the only place of `a` until `free`.
        func fill() async throws {
            try a.drop(as: "filler.png", inbox: "inbox/home")
            try await a.job("filler.png", becomes: "running")
        }

        func free() throws {
            let filler = try a.list(["running"]).filter { $0.recipe == "home" }
            _ = try a.call(Call.Cancel(ids: filler.map(\.id)))
        }

        /// Waits until the node knows so many others that take pictures.
        func knows(_ node: DaemonFixture, _ others: Int) async throws {
            while try node.status().fleet?.nodes.count(where: { $0.places > 0 }) != others { await Task.yield() }
        }

        /// Drops a picture that waits on `b`, and waits until it does.
        func hold(_ name: String) async throws -> Int {
            try a.drop(as: name, inbox: "inbox/held")
            let event = try await a.event { $0.job?.input == name && $0.job?.reason == "with the fleet, on b" }
            return try #require(event.job?.id)
        }
    }

    /// `b` waits at the filter of that name, and `a` does in its own recipe alone.
    private static func withPair(
        _ more: String = "", lacking: Bool = false, _ body: (Pair) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            try await DaemonFixture.with(files("a", server, more), started: false) { a in
                try await DaemonFixture.with(files("b", server, more), started: false) { b in
                    for node in [a, b] {
                        try FileManager.default.createDirectory(
                            atPath: node.path("plugins"), withIntermediateDirectories: true)
                    }
                    try waits.compile(to: a.path("plugins/waits.so"))
                    try FileManager.default.copyItem(
                        atPath: a.path("plugins/waits.so"), toPath: b.path("plugins/waits.so"))
                    if lacking { try extra.compile(to: a.path("plugins/extra.so")) }
                    try await b.start()
                    try await a.start()
                    let pair = Pair(a: a, b: b, server: server)
                    try await pair.knows(a, 1)
                    try await body(pair)
                }
            }
        }
    }

    private static let extra = Plugin(name: "extra", body: "return vips_copy(in, out, NULL);")

    @Test("a picture that finds no place is rendered by another node, and published by its origin")
    func lent() async throws {
        try await Self.withPair { pair in
            try await pair.fill()
            for name in ["one", "two", "three"] { try pair.a.drop(as: "\(name).png", inbox: "inbox/far") }
            for name in ["one", "two", "three"] { try await pair.a.job("\(name).png", becomes: "done") }
            #expect(pair.published == ["far/one.jpg", "far/three.jpg", "far/two.jpg"])
            #expect(try pair.b.list().isEmpty && pair.b.files(in: "outbox") == [])
            #expect(try pair.a.status().fleet?.lent == 0)
            let story = try await pair.a.pipectl("show", "2").output
            #expect(story.contains("on node b"), "\(story)")
            let size = Picture.jpegSize(try pair.a.data("outbox/far/one.jpg"))
            #expect(size?.width == 16 && size?.height == 12)
        }
    }

    @Test("a recipe with Fleet=no, and a filter that no other node has, wait for a place at home")
    func home() async throws {
        try await Self.withPair(lacking: true) { pair in
            let recipe = "[Output]\nChain=extra | resize scale=0.5\n"
            try pair.a.write(recipe, to: "etc/recipes.d/only.recipe")
            _ = try pair.a.call(Call.Reload())
            try await pair.knows(pair.a, 1)
            #expect(try pair.a.status().fleet?.nodes.first?.lacks == ["extra"])
            try await pair.fill()
            try pair.a.drop(as: "second.png", inbox: "inbox/home")
            try pair.a.drop(as: "only.png", inbox: "inbox/only")
            try await pair.a.job("second.png", becomes: "queued")
            try await pair.a.job("only.png", becomes: "queued")
            #expect(try pair.a.status().fleet?.lent == 0)
        }
    }

    @Test("a lent picture is cancelled where it is, and nothing of it is published")
    func cancelled() async throws {
        try await Self.withPair { pair in
            try await pair.fill()
            let id = try await pair.hold("one.png")
            #expect(try pair.a.call(Call.Cancel(ids: [id])).jobs.map(\.state) == ["cancelled"])
            while try pair.b.status().fleet?.taken != 0 { await Task.yield() }
            #expect(pair.published == [])
            #expect(try pair.a.status().fleet?.lent == 0)
        }
    }

    @Test("what a node that is lost had taken is rendered at home, once a place is free")
    func nodeLost() async throws {
        try await Self.withPair { pair in
            try await pair.fill()
            _ = try await pair.hold("one.png")
            await pair.b.stop(SIGKILL)
            try pair.free()
            // Its own worker has the filter that waits.
            try await pair.a.job("one.png", becomes: "running")
        }
    }

    @Test("when the server is lost, places at home go on at once, and what was lent comes home after TakeBack=")
    func serverLost() async throws {
        try await Self.withPair("TakeBack=1s") { pair in
            try await pair.fill()
            let id = try await pair.hold("one.png")
            await pair.server.kill()
            try await pair.a.says("that were lent are rendered here")
            try pair.free()
            try await pair.a.job("one.png", becomes: "running")
            _ = try pair.a.call(Call.Cancel(ids: [id]))
            try pair.a.drop(as: "two.png", inbox: "inbox/far")
            try await pair.a.job("two.png", becomes: "done")
            try await pair.server.restart()
            try await pair.knows(pair.a, 1)
            try await pair.fill()
            try pair.a.drop(as: "three.png", inbox: "inbox/far")
            try await pair.a.job("three.png", becomes: "done")
            #expect(pair.published == ["far/three.jpg", "far/two.jpg"])
        }
    }

    @Test("an origin that is killed offers anew what it had lent, and that counts as no crash")
    func originLost() async throws {
        try await Self.withPair { pair in
            try await pair.fill()
            let id = try await pair.hold("one.png")
            let cursor = try pair.a.status().cursor
            await pair.a.stop(SIGKILL)
            try await pair.a.start()
            let job = try #require(try pair.a.list().first { $0.id == id })
            #expect(job.error == nil)
            let crashes = try await pair.a.ledger("SELECT crashes FROM jobs WHERE id = \(id)")
            #expect(crashes == ["0"])
            try await pair.a.event(since: cursor) { $0.job?.id == id && $0.job?.reason == "with the fleet, on b" }
        }
    }

    @Test("a picture that can't be read fails by the other node's word, once")
    func broken() async throws {
        try await Self.withPair { pair in
            try await pair.fill()
            try pair.a.drop(Data("no picture".utf8), as: "one.png", inbox: "inbox/far")
            try await pair.a.job("one.png", becomes: "failed")
            let job = try #require(try pair.a.list(["failed"]).first)
            #expect(job.error?.contains("on the node b") == true, "\(job)")
            let shown = try pair.a.call(Call.Show(id: job.id)).story
            #expect(shown.tries == 1)
        }
    }

    @Test("a stop hands back what was taken, and ends what was lent; both go on after a start")
    func stopped() async throws {
        try await Self.withPair { pair in
            try await pair.fill()
            _ = try await pair.hold("one.png")
            let status = await pair.b.stop()
            #expect(status == 0)
            try pair.free()
            try await pair.a.job("one.png", becomes: "running")
            let ended = await pair.a.stop()
            #expect(ended == 0)
            try await pair.b.start()
            try await pair.a.start()
            // The first picture fills the only place.
            try pair.a.drop(as: "two.png", inbox: "inbox/far")
            try await pair.a.job("two.png", becomes: "done")
        }
    }

    @Test("without the program, with a file that everybody can read, and with no server there, the reason is a problem")
    func problems() async throws {
        let lines = "[Fleet]\nServers=tls://127.0.0.1:1\nCertificate=/etc/hostname\nKey=KEY\nAuthority=/etc/hostname\n"
        try await DaemonFixture.with(started: false) { daemon in
            let key = daemon.path("key.pem")
            try daemon.write("no key", to: "key.pem")
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
            try daemon.write(lines.replacingOccurrences(of: "KEY", with: key), to: "etc/pipelined.conf")
            try await daemon.start()
            try await daemon.says("everybody can read \(key)")
            #expect(try daemon.status().problems.contains { $0.contains("Key= in [Fleet] is not used") })
            try daemon.drop(as: "one.png")
            try await daemon.job("one.png", becomes: "done")
        }
    }

    @Test(
        "the commands of the guide make a fleet of three nodes of nothing",
        .enabled(if: Mount.isPermitted, "only root may make a network"))
    func guide() async throws {
        try await withTemporaryFolder { folder in
            let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            let outcome = try await Programs.run(
                path: "/usr/bin/unshare",
                [
                    "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "bash",
                    here.appendingPathComponent("Fixture/fleet_guide.sh").path, Programs.folder.path,
                    try #require(NATSServer.program),
                    here.appendingPathComponent("../../docs/fleet.md").standardizedFileURL.path, folder,
                ])
            #expect(outcome.status == 0, "\(outcome.output)\n\(outcome.errors)")
            #expect(outcome.output.contains("pipectl fleet init fleet.example.org darkroom,attic,cellar"))
            let lines = outcome.lines
            #expect(lines.contains { $0.hasPrefix("fleet: attic at tls://fleet.example.org:4222 · 2 other nodes") })
            #expect(lines.contains { $0.hasPrefix("cellar ") } && lines.contains { $0.hasPrefix("darkroom ") })
            #expect(lines.last == "600")
        }
    }
}
