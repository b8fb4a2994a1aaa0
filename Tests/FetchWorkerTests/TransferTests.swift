import CLinux
import Foundation
import Glibc
import PipelineModel
import SystemCalls
import TestTools
import Testing
import WorkerProtocol

@Suite("A transfer")
struct TransferTests {
    private static let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    @Test("a transfer delivers the bytes and the server's description of them")
    func whole() throws {
        let server = try HTTPServer { _, connection in
            try connection.reply(200, ["Content-Disposition": "attachment; filename=\"a b.jpg\""], Self.body)
        }
        let worker = try FetchProcess()
        let file = try StagingFile()
        let fetched = try worker.fetch(server.url("/x?y"), into: file)
        #expect(
            fetched == FetchedFile(status: 200, name: "a b.jpg", url: server.url("/x?y"), bytes: Int64(Self.body.count))
        )
        #expect(try file.content == Self.body)
        let request = try #require(server.seen.requests.first)
        #expect(request.path == "/x?y")
        #expect(request.headers["accept-encoding"] == "identity")
        #expect(request.headers["user-agent"]?.hasPrefix("pipelined/") == true)
    }

    @Test("a transfer reuses earlier connections")
    func reuse() throws {
        let server = try HTTPServer { _, connection in try connection.reply(200, [:], Self.body) }
        let worker = try FetchProcess()
        for _ in 1...5 { _ = try worker.fetch(server.url(), into: StagingFile()) }
        #expect(server.seen.connections == 1)
        #expect(server.seen.requests.count == 5)
    }

    @Test("transfers run concurrently, with at most PerHost= connections to one server")
    func many() throws {
        let server = try HTTPServer { _, connection in try connection.reply(200, [:], Self.body) }
        let worker = try FetchProcess()
        let files = try (0..<40).map { _ in try StagingFile() }
        let limits = FetchProcess.limits { $0.perHost = 3 }
        let ids = try files.map { try worker.begin(server.url(), into: $0, limits) }
        for (id, file) in zip(ids, files) {
            guard case .done = try worker.end(id) else { throw Unexpected("it failed") }
            #expect(try file.content == Self.body)
        }
        #expect(server.seen.connections <= 3)
        #expect(server.seen.mostBusy <= 3)
    }

    @Test("a transfer that waits for one of the PerHost= connections is not limited by ConnectTimeout=")
    func waitsForConnection() throws {
        let server = try HTTPServer { request, connection in
            if request.path == "/held" { connection.waitForClose() } else { try connection.reply(200, [:], Self.body) }
        }
        let worker = try FetchProcess()
        let held = try worker.begin(server.url("/held"), into: StagingFile(), FetchProcess.limits { $0.perHost = 1 })
        let file = try StagingFile()
        let waiting = try worker.begin(
            server.url("/next"), into: file,
            FetchProcess.limits {
                $0.perHost = 1
                $0.connectMilliseconds = 200
            })
        // Wait until a connection to a silent port times out. That takes longer than the ConnectTimeout of the waiting
        // transfer.
        let deaf = try DeafPort()
        let limits = FetchProcess.limits { $0.connectMilliseconds = 400 }
        #expect(try worker.failure(at: deaf.url, limits).message.contains("ConnectTimeout"))
        try worker.cancel(held)
        guard case .cancelled = try worker.end(held), case .done = try worker.end(waiting) else {
            throw Unexpected("it did not wait")
        }
        #expect(try file.content == Self.body)
    }

    @Test(
        "a cancel closes the connection while others go on; after the last cancel no idle connection stays")
    func cancel() async throws {
        let server = try HTTPServer { request, connection in
            guard request.path == "/slow" else { return try connection.reply(200, [:], Self.body) }
            try connection.begin(200, ["Content-Length": "1000000"])
            try connection.write(Self.body)
            connection.waitForClose()
        }
        let worker = try FetchProcess()
        let id = try worker.begin(server.url("/slow"), into: StagingFile())
        try worker.until(id, has: Int64(Self.body.count))
        _ = try worker.fetch(server.url(), into: StagingFile())
        try worker.cancel(id)
        guard case .cancelled = try worker.end(id) else { throw Unexpected("it was not cancelled") }
        await server.until { $0.open == 0 }
        _ = try worker.fetch(server.url(), into: StagingFile())
    }

    @Test("a transfer follows redirects, as far as Redirects= allows")
    func redirects() throws {
        let server = try HTTPServer { request, connection in
            let left = Int(request.path.dropFirst()) ?? 0
            if left == 0 { return try connection.reply(200, [:], Self.body) }
            try connection.reply([301, 302, 303, 307, 308][left % 5], ["Location": "/\(left - 1)"], Data("moved".utf8))
        }
        let worker = try FetchProcess()
        let file = try StagingFile()
        #expect(try worker.fetch(server.url("/5"), into: file).url == server.url("/0"))
        #expect(try file.content == Self.body)
        let failure = try worker.failure(at: server.url("/6"))
        #expect(failure.kind == .input)
        #expect(failure.message == "it redirects more than 5 times (Redirects=)")
        #expect(try worker.failure(at: server.url("/1"), FetchProcess.limits { $0.redirects = 0 }).kind == .input)
    }

    @Test("a transfer larger than MaxSize= fails, by its announced or its actual size, to the byte")
    func maxSize() throws {
        let server = try HTTPServer { request, connection in
            if request.path == "/announced" { return try connection.reply(200, [:], Self.body) }
            try connection.begin(200, ["Connection": "close"])
            try connection.write(Self.body)
            connection.close()
        }
        let worker = try FetchProcess()
        for path in ["/announced", "/streamed"] {
            let size = Int64(Self.body.count)
            _ = try worker.fetch(
                server.url(path), into: StagingFile(), FetchProcess.limits { $0.maxSize = size })
            let file = try StagingFile()
            let failure = try worker.failure(
                at: server.url(path), FetchProcess.limits { $0.maxSize = size - 1 }, into: file)
            #expect(failure.kind == .input)
            #expect(failure.message.contains("MaxSize"))
            #expect(try file.content.count < size)
        }
    }

    @Test("encoded content counts by its decoded size, so that a bomb is harmless")
    func bomb() throws {
        let content = try Self.bomb
        let server = try HTTPServer { _, connection in
            try connection.reply(200, ["Content-Encoding": "gzip"], content)
        }
        let worker = try FetchProcess()
        let file = try StagingFile()
        let failure = try worker.failure(at: server.url(), FetchProcess.limits { $0.maxSize = 1 << 20 }, into: file)
        #expect(failure.kind == .input)
        #expect(failure.message.contains("MaxSize"))
        #expect(try file.content.count <= 1 << 20)
        // A decoded body within the limit is accepted.
        #expect(
            try worker.fetch(server.url(), into: file, FetchProcess.limits { $0.maxSize = 64 << 20 }).bytes == 64 << 20)
    }

    @Test(
        "an encoding in Transfer-Encoding, which the worker never requests, is refused, with every libcurl version",
        arguments: ["gzip, chunked", "deflate", "chunked, gzip"])
    func encodedTransfer(encoding: String) throws {
        let content = try Self.bomb
        let server = try HTTPServer { _, connection in
            try connection.begin(200, ["Transfer-Encoding": encoding])
            try connection.write("\(String(content.count, radix: 16))\r\n")
            try connection.write(content)
            try connection.write("\r\n0\r\n\r\n")
            connection.close()
        }
        let file = try StagingFile()
        let failure = try FetchProcess().failure(at: server.url(), into: file)
        #expect(failure.kind == .input && failure.advice != nil)
        #expect(failure.message.hasPrefix("the server's answer is encoded in a way that can't be read ("))
        #expect(failure.message.contains("Transfer-Encoding"))
        #expect(try file.content.isEmpty)
    }

    /// A gzip bomb: 64 MB of zeros, compressed to 64 KB.
    private static var bomb: Data {
        get throws {
            let bomb = try StagingFile()
            let outcome = try ChildProcess(
                "/bin/sh", ["-c", "head -c 67108864 /dev/zero | gzip -9"], output: bomb.opened()
            ).wait()
            #expect(outcome.status == 0)
            let content = try bomb.content
            #expect(content.count < 100_000)
            return content
        }
    }

    @Test(
        "each failure says whether a retry may help, and when",
        arguments: [
            (404, FetchFailure.Kind.input, nil as String?, nil as Int?), (403, .input, nil, nil),
            (204, .input, nil, nil),
            (503, .transient, "120", 120), (429, .transient, "7", 7), (500, .transient, nil, nil),
            (503, .transient, "soon", nil),
        ])
    func status(status: Int, kind: FetchFailure.Kind, after header: String?, seconds: Int?) throws {
        let server = try HTTPServer { _, connection in
            try connection.reply(
                status, header.map { ["Retry-After": $0] } ?? [:], Data((status == 204 ? "" : "<html>").utf8))
        }
        let file = try StagingFile()
        let failure = try FetchProcess().failure(at: server.url(), into: file)
        #expect(failure.kind == kind)
        #expect(failure.status == status)
        #expect(failure.retryAfter == seconds)
        #expect(failure.message.hasPrefix("the server answers \(status)"))
        #expect(try file.content.isEmpty)
    }

    @Test("an endless error page is not read for ever, and an empty answer is not a picture")
    func noBody() throws {
        let server = try HTTPServer { request, connection in
            if request.path == "/empty" { return try connection.reply() }
            try connection.begin(404, ["Content-Length": "1000000000"])
            while true { try connection.write(Self.body) }
        }
        let worker = try FetchProcess()
        #expect(try worker.failure(at: server.url("/endless")).status == 404)
        #expect(try worker.failure(at: server.url("/empty")).message == "the server sent no data")
    }

    @Test("a server that sends less than 1 KB within StallTimeout= is abandoned, even if it drips")
    func stall() throws {
        let server = try HTTPServer { request, connection in
            try connection.begin(200, ["Content-Length": "1000000", "ETag": "\"one\""])
            if request.path == "/begun" { try connection.write(Self.body) }
            if request.path != "/drips" { return connection.waitForClose() }
            while true {
                try connection.write("x")
                // The server sends bytes without end. The pauses of 10 ms are far shorter than the timeout.
                usleep(10_000)
            }
        }
        let worker = try FetchProcess()
        for path in ["/silent", "/drips", "/begun"] {
            let failure = try worker.failure(at: server.url(path), FetchProcess.limits { $0.stallMilliseconds = 500 })
            #expect(failure.kind == .transient)
            #expect(failure.message.contains("StallTimeout"))
            if path == "/begun" {
                #expect(
                    failure.resume
                        == FetchResume(offset: Int64(Self.body.count), validator: "\"one\"", total: 1_000_000))
            }
        }
    }

    @Test("a server that does not accept the connection is abandoned after ConnectTimeout=")
    func connectTimeout() throws {
        let deaf = try DeafPort()
        let failure = try FetchProcess().failure(at: deaf.url, FetchProcess.limits { $0.connectMilliseconds = 300 })
        #expect(failure.kind == .transient)
        #expect(failure.message.contains("ConnectTimeout"))
    }

    @Test("an endless header, a closed port and an invalid answer fail alone")
    func nonsense() throws {
        let server = try HTTPServer { request, connection in
            switch request.path {
            case "/header":
                try connection.write("HTTP/1.1 200 So\r\n")
                while true { try connection.write("X-More: \(String(repeating: "x", count: 1000))\r\n") }
            case "/line":
                try connection.write("HTTP/1.1 200 So\r\nX-Long: \(String(repeating: "x", count: 200_000))\r\n\r\n")
            case "/old": try connection.write("not HTTP at all")
            default: break
            }
            connection.close()
        }
        let worker = try FetchProcess()
        #expect(try worker.failure(at: server.url("/header")).message.contains("longer than 262144 bytes"))
        let long = try worker.failure(at: server.url("/line"))
        #expect(long.kind == .input && long.message.contains("longer than 102400 bytes") && long.advice != nil)
        #expect(try worker.failure(at: server.url("/old")).kind == .input)
        #expect(try worker.failure(at: server.url("/nothing")).kind == .transient)
        #expect(try worker.failure(at: "http://127.0.0.1:1/").kind == .transient)
        #expect(try worker.failure(at: "http://no-such-host.invalid/").message.contains("resolve host"))
        for url in ["", "http://", "ftp://127.0.0.1/x", "file:///etc/passwd", "nonsense", "http://[::1", "gopher://x/"]
        {
            #expect(try worker.failure(at: url).kind == .input, "\(url)")
        }
    }

    @Test("the worker ends with its supervisor")
    func orphan() throws {
        let worker = try FetchProcess()
        shutdown(worker.channel.socket.number, Int32(SHUT_RDWR))
        var status: Int32 = 0
        #expect(waitpid(worker.process, &status, 0) == worker.process)
        #expect(status == 0)
    }

    @Test("the worker ends with its supervisor even if the socket stays open")
    func lostSupervisor() async throws {
        let (ours, theirs) = try Descriptor.pair(type: Int32(SOCK_SEQPACKET.rawValue))
        let script = """
            import subprocess, sys
            worker = subprocess.Popen([sys.argv[1]], pass_fds=[3])
            print(worker.pid, flush=True)
            worker.wait()
            """
        let supervisor = try ChildProcess(
            "/usr/bin/python3", ["-I", "-S", "-c", script, FetchProcess.program], passed: [theirs])
        guard case .hello = try WorkerChannel(ours).receive(FetchMessage.self)?.message else {
            throw Unexpected("no hello")
        }
        await supervisor.until { supervisor.output.hasSuffix("\n") }
        let worker = try #require(Int32(supervisor.output.trimmingCharacters(in: .newlines)))
        let end = Descriptor(owning: clinux_pidfd_open(worker))
        supervisor.signal(SIGKILL)
        // Because this process keeps both ends of the socket open, the worker can't notice the death of its supervisor
        // by EOF.
        var ended = pollfd(fd: end.number, events: Int16(POLLIN), revents: 0)
        #expect(poll(&ended, 1, -1) == 1)
        withExtendedLifetime((ours, theirs)) {}
    }
}
