import Foundation
import PipelineControl
import TestTools
import Testing

/// The only render slot of `a` is occupied, unless a test frees it. The server holds back two pictures that `a`
/// downloads itself, and `b` may take the pictures queued behind these two.
@Suite("A fleet's downloads", .enabled(if: NATSServer.program != nil, "there is no NATS server here"))
struct FleetDownloadTests {
    private static let recipe = "[Recipe]\nOriginal=delete\n[Output]\nChain=resize scale=0.5\n"
    private static let isOpen = "[Download]\nAllowPrivateHosts=127.0.0.1\nRetries=0\n"

    private struct Served {
        let pair: FleetPair
        let http: HTTPServer
        /// Holds back the downloads of `a`.
        let gate: Gate
        /// Holds back the picture `/slow.png`.
        let slow: Gate

        var a: DaemonFixture { pair.a }
        var b: DaemonFixture { pair.b }
        var published: [String] { pair.published }

        /// Adds pictures to the queue, behind two that `a` downloads itself.
        func add(_ paths: [String], to recipe: String = "gone") async throws {
            let list = (["/held-1.png", "/held-2.png"] + paths).map { http.url($0) }.joined(separator: "\n")
            try a.drop(Data(list.utf8), as: "list.urls", inbox: "inbox/\(recipe)")
            await http.until { $0.requests.count { $0.path.hasPrefix("/held") } == 2 }
        }

        func story(of name: String) async throws -> String {
            let job = try #require(try a.list().first { $0.input == name || $0.input.hasSuffix("/\(name)") })
            return try await a.pipectl("show", "\(job.id)").output
        }
    }

    /// Runs `body` with the two daemons. `password` is the path of a file with the password that `a` uses for the
    /// pictures' server.
    private static func withPair(
        _ more: String = "", password: String? = nil, ofB: String = isOpen, isFull: Bool = true,
        _ body: (Served) async throws -> Void
    ) async throws {
        let (gate, slow) = (Gate(), Gate())
        let http = try HTTPServer { request, connection in
            switch request.path {
            case "/text.png": return try connection.reply(200, [:], Data("no picture".utf8))
            case "/named":
                return try connection.reply(
                    200, ["Content-Disposition": "attachment; filename=\"../lucerne.png\""], Picture.small)
            case "/slow.png": slow.wait()
            default: if request.path.hasPrefix("/held") { gate.wait() }
            }
            try connection.reply(200, [:], Picture.small)
        }
        let login = password.map { "[Host 127.0.0.1:\(http.port)]\nUser=me\nPasswordFile=\($0)\nPlainHTTP=allow\n" }
        try await FleetPair.with(ofA: more + isOpen + (login ?? ""), ofB: ofB) { pair in
            try pair.a.write(recipe, to: "etc/recipes.d/gone.recipe")
            _ = try pair.a.call(Call.Reload())
            try await pair.knows(pair.a, 1)
            if isFull { try await pair.fill() }
            defer {
                gate.open()
                slow.open()
            }
            try await body(Served(pair: pair, http: http, gate: gate, slow: slow))
        }
    }

    @Test(
        "a node downloads the picture that it takes; the origin gets only the results, which it names and publishes"
    )
    func far() async throws {
        try await Self.withPair { pair in
            try await pair.add(["/one.png", "/named", "/two.png"])
            for name in ["one.png", "lucerne.png", "two.png"] { try await pair.a.job(name, becomes: "done") }
            #expect(pair.published == ["gone/lucerne.jpg", "gone/one.jpg", "gone/two.jpg"])
            let size = Picture.jpegSize(try pair.a.data("outbox/gone/lucerne.jpg"))
            #expect(size?.width == 16 && size?.height == 12)
            let story = try await pair.story(of: "lucerne.png")
            #expect(story.contains("downloaded and made on node b") && !story.contains("\n  download"), "\(story)")
            #expect(pair.http.seen.requests("/named").count == 1)
            #expect(pair.a.files(in: "archive").filter { $0.hasSuffix(".png") } == [])
            #expect(try pair.b.list().isEmpty && pair.b.files(in: "outbox") == [])
            pair.gate.open()
            try pair.pair.free()
            try await pair.a.waitForAll()
            #expect(pair.published.count == 5)
            #expect(try await pair.a.ledger("SELECT count(*) FROM jobs WHERE state = 'done' AND NOT disposed") == ["0"])
            #expect(pair.a.files(in: "state/spool").isEmpty)
        }
    }

    enum Reason: String, CaseIterable, Sendable { case keptOriginal, login, secretInURL }

    @Test(
        "the origin downloads a picture whose original is kept or which needs a password",
        arguments: Reason.allCases)
    func home(_ reason: Reason) async throws {
        try await withTemporaryFolder { folder in
            let secret = "\(folder)/secret"
            try Data("secret\n".utf8).write(to: URL(fileURLWithPath: secret))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
            try await Self.withPair(password: reason == .login ? secret : nil) { pair in
                let path = reason == .secretInURL ? "/one.png?token=1234" : "/one.png"
                try await pair.add([path], to: reason == .keptOriginal ? "far" : "gone")
                try await pair.a.job("one.png", becomes: "done")
                let story = try await pair.story(of: "one.png")
                #expect(story.contains("on node b") && !story.contains("downloaded and made"), "\(story)")
                if reason == .keptOriginal { try await pair.a.has("archive/far/one.png") }
            }
        }
    }

    @Test("a free place at the origin takes back no pictures that still have to be downloaded")
    func idle() async throws {
        try await Self.withPair("Ahead=16\n", isFull: false) { pair in
            try await pair.add((1...6).map { "/\($0).png" })
            for number in 1...6 { try await pair.a.job("\(number).png", becomes: "done") }
            for number in 1...6 {
                let story = try await pair.story(of: "\(number).png")
                #expect(story.contains("downloaded and made on node b"), "\(story)")
            }
        }
    }

    @Test("a download that a node may not make returns; after three, the origin keeps the pictures of that server")
    func refused() async throws {
        try await Self.withPair(ofB: "") { pair in
            func add(_ number: Int) async throws -> String {
                let name = "\(number).png"
                try pair.a.drop(Data(pair.http.url("/\(name)").utf8), as: "list-\(number).urls", inbox: "inbox/gone")
                try await pair.a.job(name, becomes: "done")
                return try await pair.story(of: name)
            }
            try await pair.add([])
            for number in 1...3 {
                let story = try await add(number)
                #expect(story.contains("not a public address (on the node b)"), "\(story)")
            }
            #expect(try await !add(4).contains("not a public address"))
            #expect(pair.http.seen.requests("/1.png").count == 1)
        }
    }

    @Test("a picture that fails on a node is downloaded by its origin, and fails there with its file to inspect")
    func failing() async throws {
        try await Self.withPair { pair in
            try await pair.add(["/text.png"])
            await pair.http.until { $0.requests("/text.png").count == 2 }
            try pair.pair.free()
            try await pair.a.job("text.png", becomes: "failed")
            try await pair.a.has("failed/gone/text.png")
            #expect(try pair.a.list(["failed"]).count == 1)
        }
    }

    @Test("the download of a cancelled job ends on the node that has it")
    func cancelled() async throws {
        try await Self.withPair { pair in
            try await pair.add(["/slow.png"])
            await pair.http.until { $0.requests("/slow.png").count == 1 }
            let event = try await pair.a.event { $0.job?.reason == "with the fleet, on b" }
            let id = try #require(event.job?.id)
            _ = try pair.a.call(Call.Cancel(ids: [id]))
            try await pair.a.event { $0.job?.id == id && $0.job?.state == "cancelled" }
            while try pair.b.status().fleet?.taken != 0 { await Look.again() }
            #expect(pair.published == [])
        }
    }

    @Test("when a node is lost during a download, the origin downloads the picture")
    func lost() async throws {
        try await Self.withPair { pair in
            try await pair.add(["/slow.png"])
            try await pair.a.event { $0.job?.reason == "with the fleet, on b" }
            await pair.http.until { $0.requests("/slow.png").count == 1 }
            await pair.b.stop(SIGKILL)
            pair.slow.open()
            pair.gate.open()
            try pair.pair.free()
            try await pair.a.waitForAll()
            #expect(pair.published.count == 3)
            #expect(pair.http.seen.requests("/slow.png").count == 2)
        }
    }

    @Test("an origin that was killed downloads the picture after its restart")
    func killed() async throws {
        try await Self.withPair { pair in
            try await pair.add(["/slow.png"])
            await pair.http.until { $0.requests("/slow.png").count == 1 }
            try pair.pair.free()
            await pair.a.stop(SIGKILL)
            pair.slow.open()
            pair.gate.open()
            try await pair.a.start()
            try await pair.a.waitForAll()
            #expect(pair.published == ["gone/held-1.jpg", "gone/held-2.jpg", "gone/slow.jpg"])
        }
    }
}
