import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("A fleet", .enabled(if: NATSServer.program != nil, "there is no NATS server here"))
struct FleetTests {
    @Test("a picture for which the origin has no place is rendered by another node, and published by the origin")
    func lent() async throws {
        try await FleetPair.with { pair in
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

    @Test("when a lent picture returns, the next is lent, although the origin's own places do not change")
    func ahead() async throws {
        try await FleetPair.with("Ahead=2") { pair in
            try await pair.fill()
            let names = (1...6).map { "\($0).png" }
            for name in names { try pair.a.drop(as: name, inbox: "inbox/far") }
            for name in names { try await pair.a.job(name, becomes: "done") }
            #expect(pair.published.count == names.count)
        }
    }

    @Test("a recipe with Fleet=no, or with a filter that no other node has, waits for a place at the origin")
    func home() async throws {
        try await FleetPair.with(lacking: true) { pair in
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

    @Test("the picture of a lost node is rendered by a node that had a free place before", arguments: [true, false])
    func comesHome(isSaid: Bool) async throws {
        try await FleetPair.with { pair in
            try await pair.fill()
            let id = try await pair.hold("one.png")
            try pair.free()
            while try pair.a.status().jobs.running > 0 { await Look.again() }
            if !isSaid {
                // The daemon is stopped first; otherwise it would replace the killed fleet process.
                kill(pair.b.process, SIGSTOP)
                kill(try #require(try Children.of(pair.b.process, named: "pipelined-fleet").first), SIGKILL)
            }
            await pair.b.stop(SIGKILL)
            while try pair.a.status().fleet?.lent != 0 { await Look.again() }
            _ = try pair.a.call(Call.Cancel(ids: [id]))
        }
    }

    @Test("a picture that is too heavy for a node occupies no place there, and is rendered by its origin")
    func tooHeavy() async throws {
        try await FleetPair.with(ofB: "[Daemon]\nMemoryBudget=192M\n") { pair in
            try pair.a.write("[Output]\nChain=save format=webp\n", to: "etc/recipes.d/slow.recipe")
            _ = try pair.a.call(Call.Reload())
            try await pair.knows(pair.a, 1)
            try await pair.fill()
            try pair.a.drop(Picture.tiff(width: 8000, height: 6000), as: "large.tif", inbox: "inbox/slow")
            let begun = try await pair.a.event { $0.job?.reason == "with the fleet, on b" }
            try await pair.a.event(since: begun.cursor) { $0.job?.reason == "with the fleet" }
            while try pair.b.status().fleet?.taken != 0 { await Look.again() }
            try pair.free()
            try await pair.a.job("large.tif", becomes: "done")
        }
    }

    @Test("a new filter takes no picture back; a node with another version of a filter gets no pictures for it")
    func deployed() async throws {
        try await FleetPair.with { pair in
            try await pair.fill()
            let id = try await pair.hold("one.png")
            let process = try Children.of(pair.a.process, named: "pipelined-fleet")
            try FleetPair.extra.compile(to: pair.a.path("plugins/extra.so"))
            _ = try pair.a.call(Call.Reload())
            #expect(try await pair.a.pipectl("plugins").output.contains("extra"))
            #expect(try Children.of(pair.a.process, named: "pipelined-fleet") == process)
            #expect(try pair.a.status().fleet?.lent == 1)
            #expect(try pair.a.list().first { $0.id == id }?.reason == "with the fleet, on b")
            // The added byte makes the file another version of the filter, although its code stays the same.
            let plugin = pair.b.path("plugins/waits.so")
            let other = try Data(contentsOf: URL(fileURLWithPath: plugin)) + Data([0])
            try other.write(to: URL(fileURLWithPath: plugin), options: .atomic)
            _ = try pair.b.call(Call.Reload())
            while try pair.a.status().fleet?.nodes.first?.lacks != ["extra", "waits in this version"] {
                await Look.again()
            }
            try pair.a.drop(as: "two.png", inbox: "inbox/far")
            try await pair.a.job("two.png", becomes: "done")
            try pair.a.drop(as: "three.png", inbox: "inbox/held")
            try await pair.a.job("three.png", becomes: "queued")
            #expect(try pair.a.list().first { $0.id == id }?.reason == "with the fleet, on b")
        }
    }

    @Test("a lent picture is cancelled on its node, and nothing of it is published")
    func cancelled() async throws {
        try await FleetPair.with { pair in
            try await pair.fill()
            let id = try await pair.hold("one.png")
            #expect(try pair.a.call(Call.Cancel(ids: [id])).jobs.map(\.state) == ["cancelled"])
            while try pair.b.status().fleet?.taken != 0 { await Look.again() }
            #expect(pair.published == [])
            #expect(try pair.a.status().fleet?.lent == 0)
        }
    }

    @Test("pictures of a lost node are rendered at the origin, once a place is free")
    func nodeLost() async throws {
        try await FleetPair.with { pair in
            try await pair.fill()
            _ = try await pair.hold("one.png")
            await pair.b.stop(SIGKILL)
            try pair.free()
            // At the origin the picture's job is running, because the filter `waits` never returns there either.
            try await pair.a.job("one.png", becomes: "running")
        }
    }

    @Test("when the server is lost, the origin's own work continues, and lent pictures return after TakeBack=")
    func serverLost() async throws {
        try await FleetPair.with("TakeBack=1s") { pair in
            try await pair.fill()
            let id = try await pair.hold("one.png")
            await pair.server.kill()
            try await pair.a.says("lent pictures are rendered here")
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

    @Test("an origin that was killed offers its lent pictures again, and that does not count as a crash")
    func originLost() async throws {
        try await FleetPair.with { pair in
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

    @Test("a picture that another node can't read fails once, with that node's error")
    func broken() async throws {
        try await FleetPair.with { pair in
            try await pair.fill()
            try pair.a.drop(Data("no picture".utf8), as: "one.png", inbox: "inbox/far")
            try await pair.a.job("one.png", becomes: "failed")
            let job = try #require(try pair.a.list(["failed"]).first)
            #expect(job.error?.contains("on the node b") == true, "\(job)")
            let shown = try pair.a.call(Call.Show(id: job.id)).story
            #expect(shown.tries == 1)
        }
    }

    @Test("a stop returns borrowed pictures and withdraws lent ones; both continue after a start")
    func stopped() async throws {
        try await FleetPair.with { pair in
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
            // The first picture occupies the only slot of `a`, so this one is rendered on `b`.
            try pair.a.drop(as: "two.png", inbox: "inbox/far")
            try await pair.a.job("two.png", becomes: "done")
        }
    }

    @Test(
        "a command reaches the named nodes or all; an absent node is reported, and Obey=no refuses"
    )
    func commands() async throws {
        try await FleetPair.with { pair in
            let (a, b) = (pair.a, pair.b)
            #expect(try await a.pipectl("concurrency", "5", "--node", "b").status == 0)
            #expect(try b.status().queues["render"]?.configured == 5)
            try await a.says("concurrency on b asked for by user")
            try await b.says("by the node a")
            #expect(try a.status().queues["render"]?.configured == 1)
            let paused = try await a.pipectl("pause", "--fleet", "--reason", "the printer")
            #expect(paused.status == 0 && paused.lines.count == 7, "\(paused.output)")
            for node in [a, b] { #expect(try node.status().queues["render"]?.reason == "the printer") }
            // A paused node takes no pictures, so it must vanish from the nodes with free slots.
            try await pair.knows(a, 0)
            #expect(try await a.pipectl("resume", "--fleet", "--json").status == 0)
            try await pair.knows(a, 1)
            let wrong = try await a.pipectl("pause", "rendr", "--node", "b")
            #expect(wrong.status == 1 && wrong.output.contains("b: there is no queue 'rendr'"), "\(wrong.output)")
            #expect(try await a.pipectl("pause", "--node", "B").errors.contains("not the name of a node"))
            let stranger = try await a.pipectl("pause", "--node", "attic")
            #expect(stranger.errors.contains("no node 'attic' has been heard of; there are a, b"), "\(stranger.errors)")

            try b.write("[Fleet]\nObey=no\n", to: "etc/pipelined.conf.d/obey.conf")
            _ = try b.call(Call.Reload())
            let refused = try await a.pipectl("pause", "--node", "a,b")
            #expect(refused.status == 1 && refused.output.contains("b: it accepts no commands"), "\(refused.output)")
            #expect(try a.status().queues["render"]?.paused == true && b.status().queues["render"]?.paused == false)
            _ = try a.call(Call.Resume())

            await b.stop(SIGKILL)
            let missing = try await a.pipectl("cancel-all", "--fleet")
            #expect(missing.status == 1 && missing.output.contains("b: it does not answer"), "\(missing.output)")
        }
    }

    @Test("cancel-all --fleet ends the jobs of every origin, and a disconnected node's results are discarded")
    func cancelAll() async throws {
        try await FleetPair.with { pair in
            try await pair.fill()
            try pair.b.drop(as: "own.png", inbox: "inbox/home")
            try await pair.b.job("own.png", becomes: "running")
            _ = try await pair.hold("one.png")
            for name in ["two", "three"] { try pair.a.drop(as: "\(name).png", inbox: "inbox/far") }
            // The daemon would replace a stopped fleet process, so stop the daemon as well.
            let processes = try [pair.b.process] + Children.of(pair.b.process, named: "pipelined-fleet")
            for process in processes { kill(process, SIGSTOP) }
            let cut = try await pair.a.pipectl("cancel-all", "--fleet")
            #expect(cut.status == 1 && cut.output.contains("b: it does not answer"), "\(cut.output)")
            #expect(Set(try pair.a.list().map(\.state)) == ["cancelled"])
            for process in processes.reversed() { kill(process, SIGCONT) }
            try await pair.knows(pair.a, 1)
            let whole = try await pair.a.pipectl("cancel-all", "--fleet")
            #expect(whole.status == 0, "\(whole.output)")
            #expect(try pair.b.list().map(\.state) == ["cancelled"])
            while try pair.b.status().fleet?.taken != 0 { await Look.again() }
            #expect(pair.published == [] && pair.b.files(in: "outbox") == [])
        }
    }

    @Test("a drained node keeps its pictures, takes no more, and answers when it has none left")
    func drained() async throws {
        try await FleetPair.with { pair in
            try await pair.fill()
            let id = try await pair.hold("one.png")
            let root = pair.a.root.path
            async let drain = Programs.run("pipectl", ["--root", root, "drain", "--node", "b"])
            // The drained node keeps its picture, and takes no other.
            try await pair.b.says("drained by the node a")
            while try pair.b.status().fleet?.places != 0 { await Look.again() }
            #expect(try pair.b.status().fleet?.taken == 1)
            _ = try pair.a.call(Call.Cancel(ids: [id]))
            let outcome = try await drain
            #expect(outcome.status == 0, "\(outcome.output)")
            #expect(try pair.b.status().fleet?.taken == 0)
            try pair.b.drop(as: "own.png", inbox: "inbox/far")
            try await pair.b.job("own.png", becomes: "queued")
            #expect(try await pair.a.pipectl("resume", "--node", "b").status == 0)
            try await pair.b.job("own.png", becomes: "done")
        }
    }

    @Test("a missing program, a credentials file that others can read, and a missing server are reported as problems")
    func problems() async throws {
        let lines = "[Fleet]\nServers=tls://127.0.0.1:1\nCredentials=KEY\nAuthority=/etc/hostname\n"
        try await DaemonFixture.with(started: false) { daemon in
            let key = daemon.path("node.creds")
            try daemon.write("no key", to: "node.creds")
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
            try daemon.write(lines.replacingOccurrences(of: "KEY", with: key), to: "etc/pipelined.conf")
            try await daemon.start()
            try await daemon.says("everyone can read \(key)")
            #expect(try daemon.status().problems.contains { $0.contains("Credentials= in [Fleet] is not used") })
            try daemon.drop(as: "one.png")
            try await daemon.job("one.png", becomes: "done")
        }
    }

    @Test(
        "the guide's commands build a fleet of three nodes from scratch",
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
