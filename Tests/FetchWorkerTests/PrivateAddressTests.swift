import Foundation
import Glibc
import TestTools
import Testing
import WorkerProtocol

@Suite("URLs can't reach private addresses")
struct PrivateAddressTests {
    /// Returns URLs with this port that denote this machine in various spellings.
    private static func ways(_ port: Int) -> [String] {
        [
            "127.0.0.1", "localhost", "LOCALHOST", "localhost.", "127.1", "127.0.1", "2130706433", "0x7f000001",
            "0x7f.1", "0177.0.0.1", "017700000001", "0", "0.0.0.0", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]",
            "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
            "[fe80::1%25lo]", "example.com@127.0.0.1", "example.com:80@localhost", "①②⑦.⓪.⓪.①", "127。0。0。1",
            "%31%32%37.0.0.1", "127.0.0.2", "127.255.255.254",
        ].map { "http://\($0):\(port)/secret" } + [
            "http://127.0.0.1:\(port)\\@example.com/", "http://127.0.0.1:\(port)#@example.com/",
            "http://127.0.0.1:\(port)?@example.com/", "http:///127.0.0.1:\(port)/", "http:127.0.0.1:\(port)/",
            "//127.0.0.1:\(port)/", "http://example.com\t@127.0.0.1:\(port)/", "HTTP://127.0.0.1:\(port)/",
        ]
    }

    /// Whether all URL parsers agree that the host is 127.0.0.1. Libcurl treats the text before an @ as a login even
    /// after a backslash; browsers do not.
    private static func isPlain(_ url: String) -> Bool { url.hasPrefix("http://127.0.0.1:") && !url.contains("\\") }

    private static func secret() throws -> HTTPServer {
        try HTTPServer { _, connection in try connection.reply(200, [:], Data("secret".utf8)) }
    }

    @Test("no notation of an address makes the worker connect")
    func direct() throws {
        let inside = try Self.secret()
        let worker = try FetchProcess()
        for url in Self.ways(inside.port) {
            let failure = try worker.failure(at: url, FetchLimits())
            if Self.isPlain(url) { #expect(failure.message.contains("is not a public address"), "\(url)") }
            #expect(failure.resume == nil)
        }
        #expect(inside.seen.connections == 0)
        #expect(
            try worker.failure(at: inside.url(), FetchLimits())
                == FetchFailure(
                    .input, "it leads to 127.0.0.1, which is not a public address",
                    advice: "if that is intended, name its host in AllowPrivateHosts of [Download]"))
    }

    @Test("no redirect from a public server reaches inside")
    func redirected() throws {
        let inside = try Self.secret()
        let ways = Self.ways(inside.port) + ["file:///etc/passwd", "ftp://127.0.0.1:\(inside.port)/", "gopher://x"]
        let outside = try HTTPServer { request, connection in
            let index = Int(request.path.dropFirst()) ?? 0
            try connection.reply(302, ["Location": ways[index]])
        }
        let worker = try FetchProcess()
        let limits = FetchLimits(allowPrivateHosts: ["127.0.0.1:\(outside.port)"])
        for index in ways.indices {
            let file = try StagingFile()
            let failure = try worker.failure(at: outside.url("/\(index)"), limits, into: file)
            if Self.isPlain(ways[index]) {
                #expect(failure.message.contains("leads to 127.0.0.1, which is not a public address"))
            }
            #expect(try file.content.isEmpty)
        }
        #expect(inside.seen.connections == 0)
    }

    @Test("no connection that was made for an allowed host is reused")
    func reused() throws {
        let inside = try Self.secret()
        let worker = try FetchProcess()
        _ = try worker.fetch(inside.url(), into: StagingFile())
        #expect(try worker.failure(at: inside.url(), FetchLimits()).message.contains("is not a public address"))
        #expect(inside.seen.requests.count == 1)
        // Transfers from the allowed host still work.
        _ = try worker.fetch(inside.url(), into: StagingFile())
    }

    @Test("AllowPrivateHosts= allows a host as the URL names it, with or without its port")
    func allowed() throws {
        let inside = try Self.secret()
        let worker = try FetchProcess()
        for (names, host, isAllowed) in [
            (["127.0.0.1"], "127.0.0.1", true), (["127.0.0.1:\(inside.port)"], "127.0.0.1", true),
            (["127.0.0.1:1"], "127.0.0.1", false), (["127.0.0.1"], "localhost", false),
            (["LocalHost"], "localhost", true), (["localhost"], "127.0.0.1", false),
            (["127.0.0.1"], "0x7f000001", true), (["example.com", "127.0.0.1"], "127.0.0.1", true),
            ([""], "127.0.0.1", false),
        ] {
            let answer = try worker.end(
                worker.begin(
                    inside.url(host: host), into: StagingFile(), FetchLimits(allowPrivateHosts: names)))
            if case .done = answer {
                #expect(isAllowed, "\(names) \(host)")
            } else {
                #expect(!isAllowed, "\(names) \(host)")
            }
        }
    }

    @Test("no proxy is used, whatever the environment says")
    func noProxy() throws {
        let proxy = try Self.secret()
        let variables = ["http_proxy", "https_proxy", "all_proxy", "ALL_PROXY"].map { "\($0)=\(proxy.url())" }
        let worker = try FetchProcess(environment: variables)
        let failure = try worker.failure(at: "http://nowhere.invalid/", FetchProcess.limits())
        #expect(failure.kind == .transient)
        #expect(proxy.seen.connections == 0)
    }

    @Test("a server with an unsigned certificate is rejected")
    func certificate() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "pipelined-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let make = """
            cd "$1" && openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out certificate -days 2 -subj /CN=localhost \
            -addext subjectAltName=IP:127.0.0.1
            """
        #expect(try ChildProcess("/bin/sh", ["-c", make, "sh", folder.path]).wait().status == 0)
        let server = try ChildProcess(
            "/usr/bin/openssl",
            [
                "s_server", "-accept", "127.0.0.1:0", "-WWW", "-cert", "\(folder.path)/certificate", "-key",
                "\(folder.path)/key",
            ])
        defer { server.signal(SIGKILL) }
        // The line may arrive in pieces.
        let said = { server.output.firstMatch(of: #/ACCEPT 127\.0\.0\.1:(\d+)\n/#) }
        await server.until { said() != nil || server.status != nil }
        let port = try #require(said()?.1)
        let failure = try FetchProcess().failure(at: "https://127.0.0.1:\(port)/certificate")
        #expect(failure.kind == .input)
        #expect(failure.message.hasPrefix("the server can't prove its identity"))
        #expect(failure.resume == nil)
    }
}
