import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("The gallery's page and its requests")
struct GalleryTests {
    private func post(_ gallery: GalleryProcess, _ path: String, _ body: String, _ headers: String...) throws -> String
    {
        let head = ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] + headers
        return try gallery.send(GalleryProcess.request(path, method: "POST", head) + body)
    }

    private func body(_ answer: String) -> String {
        answer.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n")
    }

    private func reply<Reply: Decodable>(_ type: Reply.Type, _ answer: String) throws -> Reply {
        try #require(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
        return try Wire.decode(Reply.self, Array(body(answer).utf8))
    }

    @Test("the page, its style and its script come from the program, and nothing else may run")
    func page() async throws {
        try await GalleryProcess.with { _, gallery in
            for (path, type) in [("/", "text/html"), ("/gallery.css", "text/css"), ("/gallery.js", "text/javascript")] {
                let answer = try gallery.get(path)
                #expect(
                    answer.hasPrefix("HTTP/1.1 200 ") && answer.contains("\r\nContent-Type: \(type); charset=utf-8\r\n")
                )
                let policy = try #require(answer.components(separatedBy: "Content-Security-Policy: ").dropFirst().first)
                #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; "))
                #expect(!policy.prefix(while: { $0 != "\r\n" }).contains("unsafe"))
                #expect(!answer.contains("http://") && !answer.contains("https://"), "nothing comes from elsewhere")
            }
            #expect(try gallery.get("/index.html").hasPrefix("HTTP/1.1 404 "))
        }
    }

    @Test("the page can make only the calls that it needs, and each mistake gets a message")
    func calls() async throws {
        try await GalleryProcess.with { daemon, gallery in
            for name in ["a.png", "b.png", "c.png"] { try daemon.drop(as: name) }
            try await daemon.waitForAll()
            let list = try reply(
                Call.List.Reply.self, try post(gallery, "/call/List", #"{"states":["done"],"limit":2}"#))
            #expect(list.jobs.map(\.id) == [2, 3])
            _ = try daemon.call(Call.Forget(ids: [2], states: []))
            let ids = try reply(Call.ListIDs.Reply.self, try post(gallery, "/call/ListIDs", #"{"states":[]}"#))
            #expect(ids.ranges == [Control.IDRange(first: 1, last: 1), Control.IDRange(first: 3, last: 3)])
            for (path, body, status, words) in [
                ("/call/Show", #"{"id":9}"#, 404, "there is no job 9"),
                ("/call/Show", "{}", 400, "the parameter 'id' is missing"),
                ("/call/Show", #"{"id":"1"}"#, 400, "the parameter 'id' has the wrong type"),
                ("/call/Show", "nonsense", 400, "the body is not a JSON object"),
                (
                    "/call/Show", #"{"id":1}}\u{0}{"method":"org.pipelined.Control.CancelAll"}"#, 400,
                    "the body is not a JSON object"
                ),
                ("/call/Reload", "{}", 404, "the gallery has no call 'Reload'; its calls are AddUrls, "),
                ("/call/Clean", "{}", 404, "the gallery has no call"),
                ("/call/org.pipelined.Control.Show", "{}", 404, "the gallery has no call"),
                ("/call/", "{}", 404, "the gallery has no call ''"),
                ("/call/Retry", #"{"ids":[],"states":["odd"]}"#, 400, "odd"),
                ("/call/Explain", #"{"chain":"noirr"}"#, 400, "did you mean 'noir'"),
                ("/call/Status", String(repeating: " ", count: 65_537), 413, "at most 65536 bytes"),
            ] {
                let answer = try post(gallery, path, body)
                #expect(
                    answer.hasPrefix("HTTP/1.1 \(status) ") && answer.contains(words),
                    "\(path) \(body.prefix(50)): \(answer)")
            }
            #expect(
                try post(gallery, "/call/Status", String(repeating: " ", count: 65_534) + "{}").hasPrefix(
                    "HTTP/1.1 200 "))
            #expect(try gallery.get("/call/Status").contains("\r\nAllow: POST\r\n"))
            await daemon.stop()
            #expect(try post(gallery, "/call/Status", "{}").hasPrefix("HTTP/1.1 503 "))
        }
    }

    @Test("a parameter that a call does not have is refused with the nearest name, as at the control socket")
    func unknownParameters() async throws {
        try await GalleryProcess.with { daemon, gallery in
            for (call, parameters, words) in [
                ("List", #"{"limt":1}"#, "List has no parameter 'limt'; did you mean 'limit'?"),
                ("NewBatch", #"{"nme":"trip"}"#, "NewBatch has no parameter 'nme'; did you mean 'name'?"),
                ("CloseBatch", #"{"batch":1,"zzz":1}"#, "CloseBatch has no parameter 'zzz'"),
            ] {
                let answer = try post(gallery, "/call/\(call)", parameters)
                #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains(words), "\(answer)")
                #expect(answer.contains(#""error":"org.pipelined.Control.BadValue""#), "\(answer)")
            }
            #expect(try daemon.call(Call.Batches()).batches.isEmpty)
            _ = try reply(Call.List.Reply.self, try post(gallery, "/call/List", #"{"zzz":null}"#))
        }
    }

    @Test("a program gets every error as JSON with a message and a name, and a person's browser gets text or a page")
    func errors() async throws {
        struct Problem: Decodable {
            var message: String
            var error: String
        }
        try await GalleryProcess.with(["--listen", "127.0.0.1:0"]) { _, gallery in
            func check(_ status: Int, _ head: String, _ send: (String) async throws -> String) async throws {
                let answer = try await send(head)
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(head): \(answer)")
                #expect(answer.contains("\r\nContent-Type: application/json\r\n"), "\(answer)")
                let problem = try Wire.decode(Problem.self, Array(body(answer).utf8))
                #expect(!problem.message.isEmpty && problem.error == "org.pipelined.Gallery.Refused", "\(answer)")
                let shown = try await send("\(head)\r\nAccept: text/html,*/*;q=0.8")
                #expect(shown.hasPrefix("HTTP/1.1 \(status) "), "\(head): \(shown)")
                #expect(shown.contains("\r\nContent-Type: text/"), "\(shown)")
                #expect(shown.contains(status == 401 ? "<title>Log in" : problem.message), "\(shown)")
            }
            for (status, head) in [
                (400, "GET /pictures/1?width=x HTTP/1.1\r\nHost: localhost"),
                (403, "POST /call/List HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example"),
                (404, "GET /nowhere HTTP/1.1\r\nHost: localhost"),
                (404, "GET /pictures/abc HTTP/1.1\r\nHost: localhost"),
                (404, "POST /tokens/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0"),
                (405, "GET /call/List HTTP/1.1\r\nHost: localhost"),
                (405, "POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0"),
                (411, "PUT /upload?name=a.png HTTP/1.1\r\nHost: localhost"),
                (413, "POST /call/List HTTP/1.1\r\nHost: localhost\r\nContent-Length: 65537"),
                (421, "GET / HTTP/1.1\r\nHost: evil.example"),
            ] {
                try await check(status, head) { try gallery.send($0 + "\r\nConnection: close\r\n\r\n") }
            }
            let port = try #require(gallery.port)
            try await check(401, "User-Agent: test") { headers in
                let words = headers.components(separatedBy: "\r\n").flatMap { ["-H", $0] }
                return try await Programs.run(
                    path: "/usr/bin/curl", ["-s", "-i", "--noproxy", "*", "http://\(port)/plain"] + words
                ).output
            }
        }
    }

    @Test("another site's page can't make calls, and an ambiguous request changes nothing")
    func strangers() async throws {
        try await GalleryProcess.with { daemon, gallery in
            _ = try daemon.call(Call.Pause(queue: "render", reason: nil))
            try daemon.drop(as: "a.png")
            try await daemon.job("a.png", becomes: "queued")
            for header in ["Sec-Fetch-Site: cross-site", "Origin: http://evil.example", "Sec-Fetch-Site: same-site"] {
                #expect(try post(gallery, "/call/CancelAll", "{}", header).hasPrefix("HTTP/1.1 403 "))
            }
            let smuggled = "POST /call/CancelAll HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
            for head in [
                "Host: localhost\r\nHost: localhost", "Host: evil.example",
                "Host: localhost\r\nContent-Length: 0\r\nContent-Length: \(smuggled.utf8.count)",
                "Host: localhost\r\nContent-Length: 0\r\nTransfer-Encoding: chunked",
                "Host: localhost\r\nTransfer-Encoding: chunked, identity", "Host: localhost\r\nContent-Length: 0x2",
            ] {
                let answer = try gallery.send("POST /call/Status HTTP/1.1\r\n\(head)\r\n\r\n\(smuggled)")
                #expect(answer.hasPrefix("HTTP/1.1 4") && !answer.contains("HTTP/1.1 200"), "\(head): \(answer)")
            }
            #expect(try daemon.call(Call.Status()).status.jobs.cancelled == 0)
        }
    }

    @Test("pictures have their true types, small or whole, and nothing that could carry a script is shown")
    func pictures() async throws {
        try await GalleryProcess.with { daemon, gallery in
            try daemon.drop(as: "a b.png")
            try daemon.drop(Data("<svg onload='alert(1)'/>".utf8), as: "bad.png")
            try await daemon.waitForAll()
            let id = { name in try #require(daemon.list().first { $0.input == name }).id }
            let done = try id("a b.png"), bad = try id("bad.png")
            for (path, status, words) in [
                ("/pictures/\(done)?width=320", 200, "\r\nContent-Type: image/"),
                ("/pictures/\(done)/1?width=1280&v=1", 200, "\r\nCache-Control: private, max-age=86400\r\n"),
                ("/pictures/\(done)", 200, "\r\nContent-Disposition: attachment; filename*=UTF-8''a%20b.png\r\n"),
                ("/pictures/\(done)/2", 409, "result"), ("/pictures/\(done)?width=0", 400, "width=0"),
                ("/pictures/\(done)?width=x", 400, "width is a number"), ("/pictures/99", 404, "there is no job 99"),
                ("/pictures/x", 404, "there is nothing at"), ("/pictures/1/2/3", 404, "there is nothing at"),
                ("/pictures/\(bad)?width=320", 409, "no picture"),
                ("/pictures/\(bad)", 200, "\r\nContent-Disposition: attachment"),
            ] {
                let answer = try gallery.get(path)
                #expect(answer.hasPrefix("HTTP/1.1 \(status) ") && answer.contains(words), "\(path): \(answer)")
            }
            let whole = try gallery.bytes("/pictures/\(done)")
            #expect(whole.suffix(Picture.small.count).elementsEqual(Picture.small))
            let tried = try post(gallery, "/try/\(done)", #"{"chain":"sepia | resize width=8 | save format=webp"}"#)
            #expect(tried.hasPrefix("HTTP/1.1 200 ") && tried.contains("\r\nContent-Type: image/webp\r\n"), "\(tried)")
            for (body, words) in [
                (#"{"chain":"sepi"}"#, #""column":1"#), ("{}", "either a chain or a recipe"),
                (#"{"recipe":"no"}"#, "NoSuchRecipe"),
            ] { #expect(try post(gallery, "/try/\(done)", body).contains(words)) }
            #expect(try post(gallery, "/try/\(bad)", #"{"chain":"noir"}"#).hasPrefix("HTTP/1.1 409 "))
            let again = try reply(Call.Add.Reply.self, try post(gallery, "/again/\(bad)", #"{"recipe":"noir"}"#))
            #expect(again.job.input == "bad.png" && again.job.id > max(done, bad))
        }
    }

    @Test("an upload becomes a job, unless it is truncated, too long or nameless")
    func uploads() async throws {
        try await DaemonFixture.with(["etc/pipelined.conf": "[Control]\nMaxSize=1M\n"]) { daemon in
            let gallery = try await GalleryProcess(of: daemon)
            let batch = try reply(Call.NewBatch.Reply.self, try post(gallery, "/call/NewBatch", #"{"name":"trip"}"#))
                .batch
            func put(_ query: String, _ bytes: Data, length: Int? = nil) throws -> String {
                let head = GalleryProcess.request(
                    "/upload?\(query)", method: "PUT", ["Content-Length: \(length ?? bytes.count)"])
                let client = try gallery.client(head)
                // The gallery answers a refused upload before it has read the body, and closes the connection.
                var rest = bytes
                while !rest.isEmpty, let sent = try? Socket.send(rest, to: client) { rest = rest.dropFirst(sent) }
                if length != nil { shutdown(client.number, Int32(SHUT_WR)) }
                return try GalleryProcess.all(from: client)
            }
            let added = try reply(
                Call.Add.Reply.self, try put("name=a%20b.png&folder=lucerne/old&batch=\(batch)", Picture.small))
            #expect(added.job.input == "lucerne/old/a b.png" && added.job.batch == batch)
            try await daemon.waitForAll()
            #expect(try daemon.call(Call.Show(id: added.job.id)).story.job.state == "done")
            #expect(!(try put("name=cut.png", Picture.small.prefix(20), length: 5000)).contains("HTTP/1.1 200"))
            #expect(try put("", Picture.small).contains("an upload needs a name"))
            #expect(try put("name=a%00.png", Picture.small).contains("can't be the name of a picture"))
            #expect(try put("name=x.png&batch=a", Picture.small).contains("batch must be a number"))
            #expect(try put("name=..", Picture.small).contains("can't be the name of a picture"))
            #expect(try put("name=x.png&folder=../x", Picture.small).contains("can't be a folder of the outbox"))
            let edge = Data(count: 1 << 20)
            #expect(try put("name=edge.png", edge).hasPrefix("HTTP/1.1 200 "))
            #expect(try put("name=long.png", edge + [0]).contains("MaxSize="))
            let chunked = GalleryProcess.request("/upload?name=a.png", method: "PUT", ["Transfer-Encoding: chunked"])
            #expect(try gallery.send(chunked + "0\r\n\r\n").hasPrefix("HTTP/1.1 411 "))
            #expect(try daemon.call(Call.List(states: [])).jobs.map(\.input) == ["lucerne/old/a b.png", "edge.png"])
        }
    }

    @Test("a batch stays open from one upload to the next, so its pictures wait for each other at a barrier")
    func openBatch() async throws {
        let recipe = "[Output]\nChain=resize scale=0.5 | barrier | save format=png\n"
        try await DaemonFixture.with(["etc/recipes.d/pair.recipe": recipe]) { daemon in
            let gallery = try await GalleryProcess(of: daemon)
            let batch = try reply(Call.NewBatch.Reply.self, try post(gallery, "/call/NewBatch", "{}")).batch
            for name in ["a.png", "b.png"] {
                let head = ["Content-Length: \(Picture.small.count)"]
                let path = "/upload?name=\(name)&recipe=pair&batch=\(batch)"
                let client = try gallery.client(GalleryProcess.request(path, method: "PUT", head))
                try Socket.send(Picture.small, to: client)
                #expect(try GalleryProcess.all(from: client).hasPrefix("HTTP/1.1 200 "))
                try await daemon.job(name, becomes: "waiting")
            }
            #expect(try daemon.call(Call.Batches()).batches.first?.open == true)
            _ = try post(gallery, "/call/CloseBatch", #"{"batch":\#(batch)}"#)
            #expect(try await daemon.waitForAll().allSatisfy { $0.state == "done" })
        }
    }

    @Test("an upload whose client disconnects right after the last byte is discarded at once")
    func brokenOff() async throws {
        try await GalleryProcess.with(["--silence", "3600"]) { daemon, gallery in
            let small = GalleryProcess.request("/upload?name=a.urls", method: "PUT", ["Content-Length: 1"])
            #expect(try gallery.send(small + "x").hasPrefix("HTTP/1.1 "))
            let before = gallery.process.descriptors.count
            let head = GalleryProcess.request("/upload?name=a.tif", method: "PUT", ["Content-Length: 99999999"])
            for size in 0..<8 {
                let client = try gallery.client(head)
                var rest = Array(repeating: UInt8(0), count: 20_123_457 + size)[...]
                while !rest.isEmpty { rest = rest.dropFirst(try Socket.send(rest, to: client)) }
            }
            while gallery.process.descriptors.count > before { await Look.again() }
            #expect(try daemon.call(Call.List(states: [])).jobs.map(\.input) == ["a.urls"])
        }
    }

    @Test("clients that do not read their pictures are closed after --silence, and delay nobody")
    func slowReaders() async throws {
        try await GalleryProcess.with(["--silence", "1"]) { daemon, gallery in
            try daemon.drop(Picture.tiff(width: 4000, height: 3000), as: "a.tif")
            try await daemon.waitForAll()
            #expect(try gallery.get("/healthz").hasPrefix("HTTP/1.1 200 "))
            let before = gallery.process.descriptors.count
            let clients = try (1...40).map { _ in try gallery.client(GalleryProcess.request("/pictures/1")) }
            for client in clients {
                var started = pollfd(fd: client.number, events: Int16(POLLIN), revents: 0)
                #expect(poll(&started, 1, -1) == 1)
            }
            #expect(try gallery.get("/healthz").hasPrefix("HTTP/1.1 200 "))
            while gallery.process.descriptors.count > before { await Look.again() }
            withExtendedLifetime(clients) {}
        }
    }

    @Test("an ambiguous request gets no answer")
    func ambiguous() async throws {
        // libmicrohttpd considers some of these requests incomplete. The gallery closes their connections only after
        // the time that --silence sets.
        try await GalleryProcess.with(["--silence", "1"]) { _, gallery in
            func answer(_ head: String) throws -> String { try gallery.send("GET /healthz HTTP/1.1\r\n\(head)") }
            let end = "Connection: close\r\n\r\n"
            for head in [
                "Host: localhost\r\nTransfer-Encoding : chunked\r\n\(end)0\r\n\r\n",
                "Host: localhost\r\nTransfer-Encoding\t: chunked\r\n\(end)0\r\n\r\n",
                "Host: localhost\r\nContent-Length : 1\r\n\(end)x",
                "Host: localhost\r\nContent-Length: 1\r\n 0\r\n\(end)0123456789",
                "Host: local\r\n host\r\n\(end)", "Host: local\r\n\thost\r\n\(end)",
                "Host:\r\n localhost\r\n\(end)", " X: a\r\nHost: localhost\r\n\(end)",
                "Host: localhost\r\nX: a\rTransfer-Encoding: chunked\r\n\(end)0\r\n\r\n",
                "Host: localhost\rConnection: close\r\n\r\n", "Host: localhost\nConnection: close\r\n\r\n",
                "Host: localhost\r\nConnection: close\n\n", "Host: localhost\r\nConnection: close\r\n\n",
                "Host: localhost\r\nConnection: close\r\r", "Host: localhost\r\nX: \u{1}\r\n\(end)",
                "Host: localhost\r\nX y: a\r\n\(end)", "Host: localhost\r\n: a\r\n\(end)",
                "Host: [::1].evil.test\r\n\(end)",
            ] {
                let said = try answer(head)
                let isRefused = said.isEmpty || said.hasPrefix("HTTP/1.1 4") || said.hasPrefix("HTTP/1.0 4")
                #expect(isRefused && !said.contains("\r\nok\n"), "\(head.debugDescription): \(said)")
            }
            for head in [
                "Host: localhost\r\n\(end)", "Host:localhost\r\n\(end)", "Host:  [::1]:80\r\nX:\r\nY: \r\n\(end)",
                "X: \u{e4} b:c\r\nHost: localhost\r\n\(end)",
            ] {
                #expect(try answer(head).hasSuffix("\r\n\r\nok\n"), "\(head.debugDescription)")
            }
            // The next requests of a connection start at other positions of the buffer.
            let next = "GET /healthz?a=b&c HTTP/1.1\r\nHost: localhost\r\n"
            let three = try gallery.send("\(next)\r\n\(next)\r\n\(next)\(end)")
            #expect(three.components(separatedBy: "\r\n\r\nok\n").count == 4, "\(three)")
        }
    }

    @Test("a gallery without a daemon says how to start one")
    func withoutDaemon() async throws {
        let outcome = try await Programs.run("pipelined-gallery", ["--root", "/nowhere"])
        #expect(outcome.status == 1, "\(outcome)")
        #expect(outcome.errors.contains("no daemon has started: there is no folder /nowhere/run; start pipelined"))
    }

    @Test("a code from pipectl logs one browser in, and all other requests at the port get 401")
    func login() async throws {
        try await GalleryProcess.with(["--listen", "127.0.0.1:0"]) { daemon, gallery in
            let printed = try await daemon.pipectl("gallery").output.trimmingCharacters(in: .newlines)
            let url = try #require(URLComponents(string: printed))
            let place = "http://127.0.0.1:\(try #require(url.port))"
            #expect(try #require(gallery.port) == "127.0.0.1:\(url.port ?? 0)")
            func curl(_ words: String...) async throws -> String {
                try await Programs.run(path: "/usr/bin/curl", ["-s", "-i", "--noproxy", "*"] + words).output
            }
            for path in [
                "/", "/events", "/metrics", "/healthz", "/plain", "/gallery.js", "/pictures/1", "/nothing", "/?code=1",
            ] {
                #expect(try await curl(place + path).hasPrefix("HTTP/1.1 401 "), "\(path)")
            }
            #expect(try await curl("-X", "POST", "-d", "{}", place + "/call/CancelAll").hasPrefix("HTTP/1.1 401 "))
            #expect(try await curl("-X", "POST", "-d", "", place + "/login").hasPrefix("HTTP/1.1 401 "))
            #expect(try await curl("-X", "PUT", "-d", "x", place + "/upload?name=a").hasPrefix("HTTP/1.1 401 "))
            #expect(try await curl("--head", printed).hasPrefix("HTTP/1.1 401 "))
            #expect(try await curl("-H", "Sec-Purpose: prefetch", printed).hasPrefix("HTTP/1.1 401 "))
            let entered = try await curl(printed)
            #expect(entered.hasPrefix("HTTP/1.1 303 ") && entered.contains("\r\nLocation: /\r\n"))
            let cookie = try #require(
                entered.components(separatedBy: "Set-Cookie: ").dropFirst().first?.components(separatedBy: ";")[0])
            #expect(try await curl("-H", "Cookie: \(cookie)", place + "/healthz").hasSuffix("\r\n\r\nok\n"))
            #expect(try await curl(printed).hasPrefix("HTTP/1.1 401 "))
            #expect(
                try await curl("-H", "Host: evil.example", "-H", "Cookie: \(cookie)", place).hasPrefix("HTTP/1.1 421 "))
        }
        try await GalleryProcess.with { daemon, _ in
            let refused = try await daemon.pipectl("gallery")
            #expect(refused.status == 1 && refused.errors.contains("start it with --listen"), "\(refused)")
        }
        try await DaemonFixture.with { daemon in
            let refused = try await daemon.pipectl("gallery")
            #expect(refused.status == 3 && refused.errors.contains("no gallery answers at"), "\(refused)")
        }
    }

    @Test("without JavaScript the page has lists with pages, and forms that work")
    func plain() async throws {
        try await GalleryProcess.with { daemon, gallery in
            _ = try daemon.call(Call.Pause())
            _ = try daemon.call(Call.AddUrls(urls: (1...51).map { "http://localhost/a&b\($0).png" }))
            let first = try gallery.get("/plain")
            #expect(first.contains("<h1>pipelined</h1>") && first.contains("Cancel all 51"))
            #expect(first.contains("<td>a&amp;b51.png<td>"), "\(first)")
            #expect(first.components(separatedBy: "<tr><td>").count == 51 && first.contains("/plain?before=2\""))
            let second = try gallery.get("/plain?before=2")
            #expect(second.components(separatedBy: "<tr><td>").count == 2 && second.contains("The newest"))
            let form = "Content-Type: application/x-www-form-urlencoded"
            #expect(try post(gallery, "/plain", "do=cancel&id=51", form).contains("\r\nLocation: /plain\r\n"))
            #expect(try daemon.call(Call.Show(id: 51)).story.job.state == "cancelled")
            #expect(try post(gallery, "/plain", "do=odd&id=1", form).hasPrefix("HTTP/1.1 400 "))
            #expect(
                try post(gallery, "/plain", "do=cancel-all&id=", form, "Sec-Fetch-Site: cross-site").hasPrefix(
                    "HTTP/1.1 403 "))
            #expect(try post(gallery, "/plain", "do=cancel-all&id=", form).hasPrefix("HTTP/1.1 303 "))
            #expect(try daemon.call(Call.Status()).status.jobs.cancelled == 51)
        }
    }
}
