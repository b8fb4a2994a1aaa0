import Foundation
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

@Suite("A login")
struct LoginTests {
    private static let picture = Data([1, 2, 3])
    /// The login of `user` with password `secret`, in Basic encoding.
    private static let basic = "Basic dXNlcjpzZWNyZXQ="

    private static func login(_ host: String, plain: Bool = true) -> FetchLogin {
        FetchLogin(host: host, headers: ["Authorization: \(basic)", "X-Key: secret"], allowsPlainHTTP: plain)
    }

    private static func server(_ places: [String: String] = [:]) throws -> HTTPServer {
        try HTTPServer { request, connection in
            if let place = places[request.path] { return try connection.reply(302, ["Location": place]) }
            if request.headers["range"] == "bytes=1-" {
                return try connection.reply(
                    206, ["Content-Range": "bytes 1-2/3", "ETag": "\"a\""], picture.dropFirst())
            }
            try connection.reply(200, [:], picture)
        }
    }

    private static func shown(_ server: HTTPServer) -> [[String?]] {
        server.seen.requests.map { [$0.path, $0.headers["authorization"], $0.headers["x-key"]] }
    }

    @Test("a login goes with each request to its own server and to no other, whatever redirects lead to")
    func redirects() throws {
        let other = try Self.server()
        let back = try Self.server(["/far": other.url("/there"), "/near": "/here"])
        let worker = try FetchProcess()
        let login = Self.login("127.0.0.1:\(back.port)")
        for path in ["/near", "/far"] {
            _ = try worker.fetch(back.url(path), into: StagingFile(), login: login)
        }
        #expect(
            Self.shown(back) == [
                ["/near", Self.basic, "secret"], ["/here", Self.basic, "secret"], ["/far", Self.basic, "secret"],
            ])
        #expect(Self.shown(other) == [["/there", nil, nil]])
    }

    @Test("a login is used again when a redirect returns to its server, even for the rest of a file")
    func returns() throws {
        let home = try Self.server()
        let away = try Self.server(["/away": home.url("/home")])
        let start = try Self.server(["/start": away.url("/away")])
        let worker = try FetchProcess()
        let resume = FetchResume(offset: 1, validator: "\"a\"")
        _ = try worker.fetch(
            start.url("/start"), into: StagingFile(Data([1])), resume: resume,
            login: Self.login("127.0.0.1:\(home.port)"))
        #expect(Self.shown(start) == [["/start", nil, nil]])
        #expect(Self.shown(away) == [["/away", nil, nil]])
        #expect(Self.shown(home) == [["/home", Self.basic, "secret"]])
        for server in [start, away, home] {
            #expect(server.seen.requests.map { $0.headers["range"] } == ["bytes=1-"])
        }
    }

    @Test("a login is not used by another download on the same connection")
    func shared() throws {
        let server = try Self.server()
        let worker = try FetchProcess()
        _ = try worker.fetch(server.url("/a"), into: StagingFile(), login: Self.login("127.0.0.1:\(server.port)"))
        _ = try worker.fetch(server.url("/b"), into: StagingFile())
        #expect(Self.shown(server) == [["/a", Self.basic, "secret"], ["/b", nil, nil]])
        #expect(server.seen.connections == 1)
    }

    @Test(
        "a login is withheld from other ports and names, and from http",
        arguments: [("127.0.0.1", true), ("localhost:PORT", true), ("127.0.0.1:80", true), ("127.0.0.1:PORT", false)])
    func keptBack(host: String, plain: Bool) throws {
        let server = try Self.server()
        let worker = try FetchProcess()
        let login = Self.login(host.replacingOccurrences(of: "PORT", with: "\(server.port)"), plain: plain)
        _ = try worker.fetch(server.url("/a"), into: StagingFile(), login: login)
        #expect(Self.shown(server) == [["/a", nil, nil]])
    }

    @Test("a login in the URL takes precedence")
    func inURL() throws {
        let server = try Self.server()
        let worker = try FetchProcess()
        _ = try worker.fetch(
            server.url("/a", host: "other:word@127.0.0.1"), into: StagingFile(),
            login: Self.login("127.0.0.1:\(server.port)"))
        #expect(Self.shown(server) == [["/a", "Basic b3RoZXI6d29yZA==", nil]])
    }

    @Test("a refused login in the URL is not blamed on the settings")
    func refusedInURL() throws {
        let server = try HTTPServer { _, connection in try connection.reply(401) }
        let failure = try FetchProcess().failure(at: server.url("/a", host: "other:word@127.0.0.1"))
        #expect(failure.advice == "open the URL in a browser; correct it, and add it again")
    }

    @Test(
        "a refused, missing or withheld login is reported as such, without its secrets",
        arguments: [
            (401, nil, "give pipelined.conf a section [Host NAME]"), (401, true, "correct the login in [Host HOST]"),
            (403, true, "correct the login in [Host HOST]"), (403, nil, "open the URL in a browser"),
            (401, false, "the login in [Host HOST] is not sent over http without PlainHTTP=allow"),
        ] as [(Int, Bool?, String)])
    func refused(status: Int, plain: Bool?, advice: String) throws {
        let server = try HTTPServer { _, connection in try connection.reply(status) }
        let host = "127.0.0.1:\(server.port)"
        let failure = try FetchProcess().failure(at: server.url("/a"), login: plain.map { Self.login(host, plain: $0) })
        #expect(failure.kind == .input)
        #expect(failure.status == status)
        #expect(failure.advice?.contains(advice.replacingOccurrences(of: "HOST", with: host)) == true)
        #expect(!"\(failure)".contains("secret"))
    }
}
