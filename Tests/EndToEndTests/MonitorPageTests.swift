import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Pages for monitors")
struct MonitorPageTests {
    @Test("/metrics has the same numbers as pipectl, in the format that the monitor asks for")
    func metrics() async throws {
        try await GalleryProcess.with { daemon, gallery in
            try daemon.drop(as: "a.png")
            try await daemon.waitForAll()
            let ended = #"pipelined_jobs_ended_total{recipe="noir",result="done"} 1"#
            let plain = try gallery.get("/metrics")
            #expect(
                plain.hasPrefix("HTTP/1.1 200 ")
                    && plain.contains("\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"))
            #expect(plain.contains("\n\(ended)\n"), "\(plain)")
            let open = try gallery.get("/metrics", "Accept: application/openmetrics-text; version=1.0.0, */*;q=0.1")
            #expect(open.contains("\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"))
            #expect(open.contains("\n\(ended)\n") && open.hasSuffix("\n# EOF\n"), "\(open)")
            let names = try await daemon.pipectl("metrics").lines.filter { $0.hasPrefix("# TYPE") }
            let body = try #require(plain.components(separatedBy: "\r\n\r\n").last)
            #expect(body.split(separator: "\n").filter { $0.hasPrefix("# TYPE") }.map(String.init) == names)
            let head = try gallery.get("/metrics", method: "HEAD")
            #expect(head.hasPrefix("HTTP/1.1 200 ") && head.hasSuffix("\r\n\r\n") && !head.contains("# TYPE"))
        }
    }

    @Test("/healthz says whether the daemon answers, or why not")
    func health() async throws {
        try await GalleryProcess.with { daemon, gallery in
            #expect(try gallery.get("/healthz").hasSuffix("\r\n\r\nok\n"))
            await daemon.stop()
            let down = try gallery.get("/healthz")
            #expect(down.hasPrefix("HTTP/1.1 503 ") && down.contains("no daemon answers ("), "\(down)")
            #expect(!down.contains(daemon.root.path))
            #expect(try gallery.get("/metrics").hasPrefix("HTTP/1.1 503 "))
            try await daemon.start()
            #expect(try gallery.get("/healthz").hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("/healthz counts the daemon's problems, and tells no path")
    func problems() async throws {
        try await GalleryProcess.with { daemon, gallery in
            // A file occupies the path of the archive's folder.
            try daemon.write("in the way", to: "archive/noir")
            try daemon.drop(as: "one.png")
            try await daemon.event { $0.text?.contains("its original stays at") == true }
            #expect(try gallery.get("/healthz").hasSuffix("\r\n\r\nok\n1 problem: see `pipectl status`\n"))
        }
    }

    @Test("unknown paths and methods get errors, and no page may be cached, sniffed or framed")
    func others() async throws {
        try await GalleryProcess.with { _, gallery in
            for path in ["/metrics/", "/metricsx", "/../etc/passwd", "/%2e%2e/etc/passwd", "//metrics"] {
                let answer = try gallery.get(path)
                #expect(
                    answer.hasPrefix("HTTP/1.1 404 ") && answer.contains("there is nothing at /"), "\(answer)")
            }
            #expect(try gallery.get("/metrics?x=1").hasPrefix("HTTP/1.1 200 "))
            for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "NONSENSE"] {
                let answer = try gallery.get("/metrics", method: method)
                #expect(answer.hasPrefix("HTTP/1.1 405 ") && answer.contains("\r\nAllow: GET, HEAD\r\n"), "\(answer)")
            }
            let answer = try gallery.get("/healthz")
            for header in ["Cache-Control: no-store", "X-Content-Type-Options: nosniff"] {
                #expect(answer.contains("\r\n\(header)\r\n"))
            }
            #expect(answer.contains("\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"))
        }
    }

    @Test(
        "an ambiguous request is refused, and no request after it is run",
        arguments: [
            "Host: a\r\nHost: b\r\n", "Host: a\r\nHost: a\r\n", "X: y\r\n",
            "Host: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n",
            "Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Host: a\r\nTransfer-Encoding: chunked\r\n",
            "Host: a\r\nContent-Length: 36\r\n", "Host: a\r\nContent-Length: -1\r\n",
            "Host: a\r\nContent-Length: 0x0\r\n",
            "Host: a\r\nX: \(String(repeating: "x", count: 40_000))\r\n",
        ])
    func smuggled(headers: String) async throws {
        try await GalleryProcess.with { _, gallery in
            let second = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
            let answer = try gallery.send("GET /healthz HTTP/1.1\r\n\(headers)\r\n\(second)")
            #expect(answer.hasPrefix("HTTP/1.1 4") && !answer.contains("\r\n\r\nok\n"), "\(answer)")
            #expect(try gallery.get("/healthz").hasPrefix("HTTP/1.1 200 "))
        }
    }

    @Test("clients beyond --clients wait for a place, and clients that are silent for --silence are closed")
    func bounds() async throws {
        try await GalleryProcess.with(["--clients", "2", "--silence", "1", "--headers", "1024"]) { _, gallery in
            let silent = try (1...2).map { _ in try gallery.client("GET /hea") }
            // This request is answered once one of the silent clients has been disconnected.
            #expect(try gallery.get("/healthz").hasPrefix("HTTP/1.1 200 "))
            for client in silent { #expect(try !GalleryProcess.all(from: client).contains("ok")) }
            #expect(try gallery.get("/healthz", "X: \(String(repeating: "x", count: 2000))").hasPrefix("HTTP/1.1 431 "))
        }
    }

    @Test("a client that sends its request in small pieces is also closed after --silence")
    func slowHead() async throws {
        try await GalleryProcess.with(["--silence", "1"]) { _, gallery in
            let client = try gallery.client("GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
            var end = pollfd(fd: client.number, events: Int16(POLLIN), revents: 0)
            // The client sends a byte every 100 ms, so it is never silent for long.
            while poll(&end, 1, 100) == 0 { _ = try? Socket.send("x".utf8, to: client) }
            #expect(try GalleryProcess.all(from: client).isEmpty)
        }
    }

    @Test("a hanging daemon occupies no threads, and waiting clients are answered when it continues")
    func hanging() async throws {
        try await GalleryProcess.with { daemon, gallery in
            kill(daemon.process, SIGSTOP)
            let clients = try (1...100).map { _ in try gallery.client(GalleryProcess.request("/healthz")) }
            // The gallery serves the page although the daemon is hanging.
            #expect(try gallery.get("/").hasPrefix("HTTP/1.1 200 "))
            let status = try String(contentsOfFile: "/proc/\(gallery.process.identifier)/status", encoding: .utf8)
            let threads = status.components(separatedBy: "Threads:").last.flatMap {
                Int($0.split(separator: "\n")[0].filter(\.isNumber))
            }
            #expect(try #require(threads) <= 8)
            kill(daemon.process, SIGCONT)
            for client in clients { #expect(try GalleryProcess.all(from: client).hasSuffix("\r\n\r\nok\n")) }
        }
    }

    @Test("the gallery listens at the sockets that systemd passes, and at no others")
    func passed() async throws {
        try await DaemonFixture.with { daemon in
            let socket = try Socket.listen(daemon.path("run/passed.sock"))
            let port = try #require(InternetAddress("127.0.0.1:0")).listen()
            let gallery = try await GalleryProcess(
                of: daemon, under: ServiceEnvironment.listening(2, names: "gallery:metrics"), passing: [socket, port])
            #expect(!daemon.exists("run/gallery.sock"))
            let address = try #require(InternetAddress(of: port))
            for words in [
                ["--unix-socket", daemon.path("run/passed.sock"), "http://localhost/healthz"],
                ["http://\(address)/healthz"],
            ] {
                #expect(
                    try await Programs.run(path: "/usr/bin/curl", ["-s", "--noproxy", "*"] + words).output == "ok\n")
            }
            gallery.process.signal(SIGTERM)
            #expect(await gallery.process.outcome().status == 0)
            #expect(daemon.exists("run/passed.sock"))
            let wide = try #require(InternetAddress("0.0.0.0:0")).listen()
            for (name, passed, words) in [
                ("gallery", port, "serves the daemon at"), ("gallery", wide, "'gallery' listens beyond this machine"),
                ("metrics", wide, "serves the daemon at"),
            ] {
                let words = words
                let all =
                    ServiceEnvironment.listening(1, names: name) + [
                        Programs.path("pipelined-gallery"), "--root", daemon.root.path,
                    ]
                let process = try ChildProcess(all[0], Array(all.dropFirst()), passed: [passed])
                await process.until { process.errors.contains(words) || process.status != nil }
                #expect(process.errors.contains(words), "\(process.errors)")
                if name == "gallery", words.hasPrefix("serves") {
                    #expect(
                        try await Programs.run(path: "/usr/bin/curl", ["-s", "--noproxy", "*", "http://\(address)/"])
                            .output
                            .contains("Log in first"))
                }
                process.signal(SIGKILL)
            }
            let file = try Descriptor.open("/dev/null", O_RDONLY)
            let words = ServiceEnvironment.listening(1, names: "gallery") + [Programs.path("pipelined-gallery")]
            let refused = await (try ChildProcess(words[0], Array(words.dropFirst()), passed: [file])).outcome()
            #expect(
                refused.status == 1 && refused.errors.contains("'gallery' is not a listening stream socket"),
                "\(refused)")
        }
    }

    @Test("its own socket is for the group only and is removed at the end; --metrics-listen serves the same at a port")
    func listening() async throws {
        try await GalleryProcess.with(["--metrics-listen", "127.0.0.1:0"]) { daemon, gallery in
            var status = stat()
            #expect(stat(daemon.path("run/gallery.sock"), &status) == 0 && status.st_mode & 0o777 == 0o660)
            let address = try #require(gallery.port)
            #expect(
                try await Programs.run(path: "/usr/bin/curl", ["-s", "--noproxy", "*", "http://\(address)/healthz"])
                    .output == "ok\n")
            let second = try await Programs.run(
                "pipelined-gallery", ["--root", daemon.root.path, "--metrics-listen", address])
            #expect(second.status == 1 && second.errors.contains("\(address): Address already in use"), "\(second)")
            let third = try await Programs.run("pipelined-gallery", ["--root", daemon.root.path])
            #expect(third.status == 1 && third.errors.contains("another pipelined-gallery serves at"), "\(third)")
            #expect(try gallery.get("/healthz").hasPrefix("HTTP/1.1 200 "))
            gallery.process.signal(SIGTERM)
            #expect(await gallery.process.outcome().status == 0)
            #expect(!daemon.exists("run/gallery.sock"))
        }
    }
}
