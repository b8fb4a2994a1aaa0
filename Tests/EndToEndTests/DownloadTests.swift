import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Downloads")
struct DownloadTests {
    private static let configuration = """
        [Daemon]
        Sandbox=required
        [Queues]
        Download=20
        [Download]
        AllowPrivateHosts=127.0.0.1
        PerHost=20
        Retries=0
        """

    private static func withDaemon(
        _ extra: [String: String] = [:], more: String = "", _ body: (DaemonFixture) async throws -> Void
    ) async throws {
        let files = ["etc/pipelined.conf": "\(configuration)\n\(more)\n"].merging(extra) { $1 }
        try await DaemonFixture.with(files, body)
    }

    /// Serves a picture at every path, except for paths that name a fault.
    private static func server(_ gate: Gate = Gate(isOpen: true)) throws -> HTTPServer {
        try HTTPServer { request, connection in
            switch request.path {
            case "/lost.jpg": return try connection.reply(404)
            case "/text.jpg": return try connection.reply(200, [:], Data("no picture".utf8))
            case "/named":
                return try connection.reply(
                    200, ["Content-Disposition": "attachment; filename=\"../../evil/lucerne.png\""], Picture.small)
            default: break
            }
            if request.path.hasPrefix("/held") { gate.wait() }
            try connection.reply(200, [:], Picture.small)
        }
    }

    @Test("a list dropped into an inbox becomes a batch with a job for each URL, and the list is archived")
    func list() async throws {
        let server = try Self.server()
        try await Self.withDaemon { daemon in
            let list = """
                # pictures
                \(server.url("/a.png"))

                  \(server.url("/b.png?size=2"))  \r
                ftp://example.com/c.png
                \(server.url("/lost.jpg"))
                \(server.url("/text.jpg"))
                \(server.url("/named"))
                """
            try daemon.drop(Data(list.utf8), as: "some/lucerne.urls")
            try await daemon.event { $0.batch != nil && $0.text == "ended" }
            try await daemon.waitForAll()
            let jobs = try daemon.list()
            let file = try #require(jobs.first { $0.input == "some/lucerne.urls" })
            #expect((file.state, file.reason) == ("done", "a list of 5 URLs, batch 1; 1 line is no URL"))
            let members = jobs.filter { $0.batch == 1 }
            #expect(
                members.map { "\($0.input) \($0.state)" } == [
                    "a.png done", "b.png done", "some/lucerne.urls line 5 failed", "lost.jpg failed", "text.jpg failed",
                    "lucerne.png done",
                ])
            #expect(members[0].url == server.url("/a.png"))
            #expect(
                members[2].error
                    == "'ftp://example.com/c.png' is not an http or https URL; a URL begins with https://")
            #expect(members[3].error == "the server answers 404 (not found)")
            #expect(daemon.files(in: "outbox") == ["noir/a.jpg", "noir/b.jpg", "noir/lucerne.jpg"])
            await daemon.stop()
            #expect(
                daemon.files(in: "archive") == [
                    "noir/a.png", "noir/b.png", "noir/lucerne.png", "noir/some/lucerne.urls",
                ])
            #expect(
                daemon.files(in: "failed") == [
                    "noir/lost.jpg.job\(members[3].id).error.txt", "noir/text.jpg", "noir/text.jpg.error.txt",
                ])
            let explanation = try daemon.text("failed/noir/lost.jpg.job\(members[3].id).error.txt")
            #expect(explanation.contains("It came from:     \(server.url("/lost.jpg"))"))
            #expect(explanation.contains("In which stage:   download (fetching the URL)"))
            #expect(daemon.files(in: "state/spool") == [])
        }
    }

    @Test("a browser's shortcut is a list with one URL; an invalid or oversized list fails as a whole")
    func lists() async throws {
        let server = try Self.server()
        try await Self.withDaemon(more: "ListSize=1K\nListLines=3") { daemon in
            let shortcut = "[InternetShortcut]\r\nIconIndex=0\r\nURL=\(server.url("/a.png"))\r\n"
            try daemon.drop(Data(shortcut.utf8), as: "A picture.url")
            try daemon.drop(Data("# nothing\n\n".utf8), as: "empty.urls")
            try daemon.drop(Data("http://a\nhttp://b\nhttp://c\nhttp://d\n".utf8), as: "long.urls")
            try daemon.drop(Data(String(repeating: "#", count: 1025).utf8), as: "large.urls")
            try await daemon.job("a.png", becomes: "done")
            try await daemon.waitForAll()
            let errors = Dictionary(try daemon.list(["failed"]).map { ($0.input, $0.error) }, uniquingKeysWith: { $1 })
            #expect(
                errors == [
                    "empty.urls": "the list contains no URL", "long.urls": "the list has 4 lines",
                    "large.urls": "the list has 1025 bytes, and ListSize allows 1024",
                ])
            #expect(try daemon.list(["failed"]).allSatisfy { $0.failure == "input" })
            // The list has exactly as many lines and bytes as the limits allow.
            let three = "#\n\(server.url("/b.png"))\n"
            try daemon.drop(
                Data((three + String(repeating: "#", count: 1024 - three.utf8.count)).utf8), as: "fits.urls")
            try await daemon.job("b.png", becomes: "done")
            let refused = try await daemon.pipectl("retry", "\(try #require(try daemon.list(["failed"]).first).id)")
            #expect(refused.errors.contains("was a list; `pipectl add` its file, which lies in "))
        }
    }

    @Test("pipectl add takes URLs, lists on standard input and in files, and pictures, as one batch")
    func add() async throws {
        let server = try Self.server()
        try await Self.withDaemon { daemon in
            try daemon.write(Picture.small, to: "own.png")
            try daemon.write("\(server.url("/c.png"))\n\(server.url("/d.png"))", to: "list.urls")
            let outcome = try await daemon.pipectl(
                "add", server.url("/a.png"), daemon.path("own.png"), server.url("/b.png"), daemon.path("list.urls"),
                "--wait", "--json")
            #expect(outcome.status == 0, "\(outcome.errors)")
            let jobs = try outcome.objects()
            #expect(jobs.count == 5)
            #expect(Set(jobs.map { $0["batch"] as? Int }) == [1])
            #expect(jobs.allSatisfy { $0["state"] as? String == "done" })
            try daemon.write("\(server.url("/e.png"))\nnonsense\n", to: "more")
            let piped = try await Programs.run(
                path: "/bin/sh",
                ["-c", "exec \(Programs.path("pipectl")) --root \(daemon.root.path) add - < \(daemon.path("more"))"])
            #expect(piped.status == 1, "\(piped.errors)")
            #expect(piped.lines.count == 3 && piped.lines.last?.hasPrefix("batch 2") == true, "\(piped.lines)")
            try await daemon.waitForAll()
            #expect(try daemon.call(Call.List(batch: 2)).jobs.map(\.state) == ["done", "failed"])
            let wrong = try await daemon.pipectl("add", "https://")
            #expect(wrong.status == 1)
            #expect(wrong.output.contains("failed"))
        }
    }

    @Test("show describes the download and the job follows its chain; private addresses stay blocked")
    func show() async throws {
        let server = try Self.server()
        try await Self.withDaemon { daemon in
            let outcome = try await daemon.pipectl("add", server.url("/a.png"), "--wait")
            #expect(outcome.status == 0)
            let story = try daemon.call(Call.Show(id: 1)).story
            #expect(
                story.operations.map { "\($0.kind) \($0.queue) \($0.state)" } == [
                    "download download finished", "render render finished",
                    "publish publish finished", "announce announce finished",
                ])
            #expect(story.operations[0].detail == "\(Picture.small.count) bytes")
            let asked = server.seen.connections
            for host in ["localhost", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"] {
                let url = server.url("/secret.png", host: host)
                // The host 0x7f.1 is the allowed host 127.0.0.1 in another notation.
                let isOpen = host == "0x7f.1"
                #expect(try await daemon.pipectl("add", url, "--wait").status == (isOpen ? 0 : 1), "\(url)")
            }
            #expect(server.seen.requests("/secret.png").count == 1)
            #expect(server.seen.connections <= asked + 1)
            let closed = try #require(try daemon.list(["failed"]).first)
            #expect(closed.error?.contains("which is not a public address") == true)
        }
    }

    @Test("cancel-all closes the connections, leaves no partial file, and cancels every job exactly once")
    func cancelAll() async throws {
        let server = try HTTPServer { request, connection in
            if request.path.hasPrefix("/quick") { return try connection.reply(200, [:], Picture.small) }
            try connection.begin(200, ["Content-Length": "100000"])
            try connection.write(Picture.small)
            connection.waitForClose()
        }
        try await Self.withDaemon { daemon in
            let urls = (1...4).map { server.url("/quick\($0).png") } + (1...16).map { server.url("/slow\($0).png") }
            try daemon.drop(Data(urls.joined(separator: "\n").utf8), as: "list.urls")
            for number in 1...4 { try await daemon.job("quick\(number).png", becomes: "done") }
            await server.until { $0.busy == 16 }
            let cursor = try daemon.status().cursor
            #expect(try daemon.call(Call.CancelAll()).cancelled == 16)
            #expect(try daemon.list(["running", "queued", "waiting", "cancelling"]) == [])
            await server.until { $0.busy == 0 }
            let ends = try await daemon.events(since: cursor) { $0.kind == "batch" && $0.text == "ended" }
                .filter { $0.job?.state == "cancelled" }
            #expect(ends.count == 16)
            #expect(Set(ends.map(\.job?.id)).count == 16)
            await daemon.stop()
            #expect(daemon.files(in: "state/spool") == [])
            #expect(daemon.files(in: "cancelled") == [])
            #expect(daemon.files(in: "outbox/noir").count == 4)
        }
    }

    @Test("a paused download queue counts arrivals and holds up no picture; a new limit takes effect at once")
    func tune() async throws {
        let gate = Gate()
        let server = try Self.server(gate)
        try await Self.withDaemon(more: "[Queues]\nWindow=4") { daemon in
            #expect(try await daemon.pipectl("pause", "download", "--reason", "metered").status == 0)
            let urls = (1...12).map { server.url("/held\($0).png") }
            try daemon.drop(Data(urls.joined(separator: "\n").utf8), as: "list.urls")
            try await daemon.job("held12.png", becomes: "queued")
            // More downloads than the window holds are queued ahead of this picture.
            try daemon.drop(as: "own.png")
            try await daemon.job("own.png", becomes: "done")
            let status = try daemon.status()
            let queue = try #require(status.queues["download"])
            #expect((queue.paused, queue.reason, queue.waiting, queue.running) == (true, "metered", 12, 0))
            #expect((status.jobs.waiting, status.jobs.queued) == (12, 0))
            #expect(try daemon.list(["waiting"]).map(\.reason) == Array(repeating: "paused: metered", count: 12))
            #expect(try daemon.list(["queued"]) == [])
            #expect(server.seen.connections == 0)
            _ = try daemon.call(Call.Concurrency(queue: "download", limit: "1"))
            _ = try daemon.call(Call.Resume(queue: "download"))
            await server.until { $0.busy == 1 }
            _ = try daemon.call(Call.Concurrency(queue: "download", limit: "3"))
            await server.until { $0.busy == 3 }
            _ = try daemon.call(Call.Concurrency(queue: "download", limit: "1"))
            gate.open()
            try await daemon.waitForAll()
            #expect(server.seen.mostBusy == 3)
            // Concurrent requests may arrive in any order.
            let paths = server.seen.requests.map(\.path)
            #expect(paths[0] == "/held1.png")
            #expect(Set(paths[1...2]) == ["/held2.png", "/held3.png"])
            #expect(paths[3...] == (4...12).map { "/held\($0).png" }[...])
            #expect(daemon.files(in: "outbox/noir").count == 13)
        }
    }

    @Test("downloads go on behind a paused render queue, and finished ones wait with that reason")
    func pausedRender() async throws {
        let server = try Self.server()
        try await Self.withDaemon { daemon in
            _ = try daemon.call(Call.Pause(queue: "render", reason: "the CPU is needed"))
            try daemon.drop(Data(server.url("/a.png").utf8), as: "list.urls")
            try await daemon.event { $0.job?.input == "a.png" && $0.job?.state == "waiting" }
            #expect(try daemon.list(["waiting"]).map(\.reason) == ["paused: the CPU is needed"])
            _ = try daemon.call(Call.Resume(queue: "render"))
            try await daemon.job("a.png", becomes: "done")
        }
    }

    @Test("after a crash interrupted downloads start again, and finished ones are not requested again")
    func crash() async throws {
        let gate = Gate()
        let server = try Self.server(gate)
        try await Self.withDaemon { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.drop(Data("\(server.url("/a.png"))\n\(server.url("/held.png"))".utf8), as: "list.urls")
            try await daemon.event { $0.job?.input == "a.png" && $0.job?.state == "waiting" }
            await server.until { !$0.requests("/held.png").isEmpty }
            await daemon.stop(SIGKILL)
            gate.open()
            try await daemon.start()
            _ = try daemon.call(Call.Resume(queue: "render"))
            try await daemon.waitForAll()
            #expect(try daemon.list(["done"]).map(\.input).sorted() == ["a.png", "held.png", "list.urls"])
            #expect(server.seen.requests("/a.png").count == 1)
            #expect(server.seen.requests("/held.png").count == 2)
            await daemon.stop()
            #expect(daemon.files(in: "archive/noir") == ["a.png", "held.png", "list.urls"])
            #expect(daemon.files(in: "state/spool") == [])
        }
    }

    @Test("a stop does not wait for downloads: they are queued at the next start")
    func stop() async throws {
        let gate = Gate()
        let server = try Self.server(gate)
        try await Self.withDaemon(more: "[Daemon]\nDrainTimeout=1h") { daemon in
            try daemon.drop(Data(server.url("/held.png").utf8), as: "list.urls")
            await server.until { $0.busy == 1 }
            #expect(await daemon.stop() == 0)
            gate.open()
            try await daemon.start()
            try await daemon.waitForAll()
            #expect(daemon.files(in: "outbox/noir") == ["held.jpg"])
        }
    }

    @Test("a busy server, a broken connection or an absent server is a temporary failure, and is retried later")
    func later() async throws {
        let gate = Gate()
        let server = try HTTPServer { request, connection in
            if gate.isOpen { return try connection.reply(200, [:], Picture.small) }
            if request.path == "/busy.png" { return try connection.reply(503, ["Retry-After": "3600"]) }
            connection.close()
        }
        try await Self.withDaemon(more: "[Daemon]\nRetryDelay=1h\nRetryMost=2h") { daemon in
            for name in ["busy", "broken"] { _ = try await daemon.pipectl("add", server.url("/\(name).png")) }
            _ = try await daemon.pipectl("add", "http://127.0.0.1:1/gone.png")
            for name in ["busy", "broken", "gone"] { try await daemon.job("\(name).png", becomes: "waiting") }
            let waiting = try daemon.list(["waiting"])
            #expect(waiting.allSatisfy { $0.failure == "transient" && $0.setbacks == 1 && $0.due != nil })
            #expect(waiting.first?.reason?.hasSuffix("(1 of 5): the server answers 503 (not available)") == true)
            gate.open()
            #expect(try daemon.call(Call.Retry(ids: [1, 2])).retried == [1, 2])
            try await daemon.wait([1, 2])
            #expect(try daemon.list(["done"]).map(\.input) == ["busy.png", "broken.png"])
            let story = try daemon.call(Call.Show(id: 1)).story
            #expect(
                story.operations.map { "\($0.kind) \($0.state) \($0.attempt)" } == [
                    "download failed 1", "download finished 2", "render finished 2",
                    "publish finished 2", "announce finished 2",
                ])
            _ = try daemon.call(Call.CancelAll())
            await daemon.stop()
            #expect(daemon.files(in: "state/spool") == [])
        }
    }

    @Test(
        "the partial file of a download is kept until its retry, even over a restart, and only the rest is requested")
    func kept() async throws {
        let half = Picture.small.count / 2
        let server = try HTTPServer { request, connection in
            guard request.headers["range"] != nil else {
                try connection.begin(200, ["Content-Length": "\(Picture.small.count)", "ETag": "\"one\""])
                try connection.write(Picture.small.prefix(half))
                return connection.close()
            }
            try connection.reply(
                206,
                [
                    "Content-Range": "bytes \(half)-\(Picture.small.count - 1)/\(Picture.small.count)",
                    "ETag": "\"one\"",
                ],
                Picture.small.dropFirst(half))
        }
        try await Self.withDaemon(more: "[Daemon]\nRetryDelay=1h\nRetryMost=2h") { daemon in
            for name in ["a", "b"] {
                _ = try await daemon.pipectl("add", server.url("/\(name).png"))
                try await daemon.job("\(name).png", becomes: "waiting")
            }
            #expect(daemon.files(in: "state/spool").count == 2)
            await daemon.stop()
            try await daemon.start()
            #expect(daemon.files(in: "state/spool").count == 2)
            _ = try daemon.call(Call.Cancel(ids: [2]))
            #expect(try daemon.call(Call.Retry(ids: [1])).retried == [1])
            try await daemon.wait([1])
            #expect(try daemon.list().map(\.state) == ["done", "cancelled"])
            let asked = server.seen.requests("/a.png").map { [$0.headers["range"], $0.headers["if-range"]] }
            #expect(asked == [[nil, nil], ["bytes=\(half)-", "\"one\""]])
            await daemon.stop()
            #expect(try daemon.data("archive/noir/a.png") == Picture.small)
            #expect(daemon.files(in: "state/spool") == [])
        }
    }

    @Test("bytes that arrived before a stop or kill are not requested again", arguments: [SIGTERM, SIGKILL])
    func inFlight(signal: Int32) async throws {
        let picture = Picture.png(width: 1800, height: 1000)
        let half = 5 << 20
        let server = try HTTPServer { request, connection in
            guard request.headers["range"] != nil else {
                try connection.begin(200, ["Content-Length": "\(picture.count)", "ETag": "\"one\""])
                try connection.write(picture.prefix(half))
                return connection.waitForClose()
            }
            try connection.reply(
                206,
                ["Content-Range": "bytes \(half)-\(picture.count - 1)/\(picture.count)", "ETag": "\"one\""],
                picture.dropFirst(half))
        }
        try await Self.withDaemon { daemon in
            _ = try await daemon.pipectl("add", server.url("/a.png"))
            // Wait until the ledger records that half of the picture is durable in the partial file.
            let columns = "SELECT COALESCE(MAX(partial), '') FROM jobs"
            let read = "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])"
            while try await !Python.run(read, daemon.path("state/ledger.sqlite"), columns).output.contains("\(half)") {
                await Look.again()
            }
            await daemon.stop(signal)
            try await daemon.start()
            try await daemon.waitForAll()
            let asked = server.seen.requests("/a.png").map { $0.headers["range"] }
            #expect(asked == [nil, "bytes=\(half)-"])
            #expect(daemon.files(in: "outbox/noir") == ["a.jpg"])
        }
    }

    @Test("retry downloads missing originals, and reuses existing ones")
    func retry() async throws {
        let gate = Gate()
        let server = try HTTPServer { request, connection in
            try connection.reply(gate.isOpen || request.path != "/a.png" ? 200 : 404, [:], Picture.small)
        }
        try await Self.withDaemon { daemon in
            _ = try await daemon.pipectl("add", server.url("/a.png"), "--wait")
            let error = "failed/noir/a.png.job1.error.txt"
            while !daemon.exists(error) { await Look.again() }
            gate.open()
            #expect(try await daemon.pipectl("retry", "1").status == 0)
            try await daemon.wait([1])
            #expect(!daemon.exists(error))
            _ = try daemon.call(Call.Pause(queue: "publish"))
            _ = try await daemon.pipectl("add", server.url("/b.png"))
            try await daemon.event { $0.job?.input == "b.png" && $0.job?.state == "waiting" }
            _ = try daemon.call(Call.Cancel(ids: [2]))
            while !daemon.exists("cancelled/noir/b.png") { await Look.again() }
            _ = try daemon.call(Call.Resume())
            #expect(try await daemon.pipectl("retry", "2").status == 0)
            try await daemon.wait([2])
            #expect(server.seen.requests("/b.png").count == 1)
            #expect(daemon.files(in: "outbox/noir") == ["a.jpg", "b.jpg"])
        }
    }

    @Test("Original=delete and Original=keep apply to downloads; the archive is the only place to keep them")
    func originals() async throws {
        let server = try Self.server()
        let recipes = ["delete", "keep"].map {
            (
                "etc/recipes.d/\($0).recipe",
                "[Recipe]\nInbox=\($0)\nOriginal=\($0)\n[Output]\nChain=noir | save format=png\n"
            )
        }
        try await Self.withDaemon(Dictionary(recipes) { $1 }) { daemon in
            for recipe in ["delete", "keep"] {
                try daemon.drop(
                    Data(server.url("/\(recipe).png").utf8), as: "\(recipe).urls", inbox: "inbox/\(recipe)")
                try await daemon.job("\(recipe).png", becomes: "done")
            }
            await daemon.stop()
            #expect(daemon.files(in: "archive") == ["keep/keep.png"])
            #expect(daemon.exists("inbox/keep/keep.urls"))
            #expect(daemon.files(in: "inbox/delete") == [])
            try await daemon.start()
            try await daemon.waitForAll()
            #expect(try daemon.list().count == 4)
        }
    }

    @Test("a killed fetch worker costs no job: a new worker downloads again")
    func killed() async throws {
        let gate = Gate()
        let server = try Self.server(gate)
        try await Self.withDaemon { daemon in
            let urls = (1...3).map { server.url("/held\($0).png") }
            try daemon.drop(Data(urls.joined(separator: "\n").utf8), as: "list.urls")
            await server.until { $0.busy == 3 }
            for worker in try daemon.workers() where Self.name(worker) == "pipelined-fetch" { kill(worker, SIGKILL) }
            gate.open()
            try await daemon.waitForAll()
            #expect(daemon.files(in: "outbox/noir") == ["held1.jpg", "held2.jpg", "held3.jpg"])
        }
    }

    private static func name(_ process: Int32) -> String? {
        (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8))?
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
