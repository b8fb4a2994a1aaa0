import Foundation
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Programs that use the gallery with a token")
struct TokenTests {
    private static let clients = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../packaging/clients").standardized.path

    private static func token(_ role: String, of daemon: DaemonFixture) async throws -> String {
        let made = try await daemon.pipectl("gallery", "token", "make", role, "--role", role)
        try #require(made.status == 0, "\(made)")
        return made.output.trimmingCharacters(in: .newlines)
    }

    private static func curl(_ port: String, _ path: String, _ token: String, _ words: String...) async throws
        -> Outcome
    {
        try await Programs.run(
            path: "/usr/bin/curl",
            ["--silent", "--fail-with-body", "-H", "Authorization: Bearer \(token)", "http://\(port)\(path)"] + words)
    }

    @Test("a token opens the routes of its role, and no others, at the port and at the socket")
    func roles() async throws {
        try await GalleryProcess.with(["--listen", "127.0.0.1:0"]) { daemon, gallery in
            let port = try #require(gallery.port)
            try daemon.drop(as: "a.png")
            try await daemon.waitForAll()
            for (place, role) in [("look", 0), ("add", 1), ("steer", 2)] {
                let token = try await Self.token(place, of: daemon)
                for (needed, method, path, body) in [
                    (0, "GET", "/pictures/1/1", ""), (0, "POST", "/call/List", #"{"states":[]}"#),
                    (0, "GET", "/healthz", ""),
                    (0, "GET", "/plain", ""), (1, "POST", "/call/NewBatch", "{}"),
                    (0, "GET", "/login", ""),
                    (1, "PUT", "/upload?name=b.png", "x"), (1, "PUT", "/upload?hold=yes", "x"),
                    (1, "POST", "/upload/none", #"{"name":"b.png"}"#), (1, "POST", "/again/1", #"{"recipe":"noir"}"#),
                    (1, "POST", "/try/1/1", #"{"chain":"noir"}"#), (1, "POST", "/try/sample", #"{"chain":"noir"}"#),
                    (1, "POST", "/try/1", #"{"chain":"noir"}"#), (2, "POST", "/call/CancelAll", "{}"),
                    (2, "POST", "/call/Pause", #"{"queue":"announce"}"#), (2, "POST", "/plain", "act=none"),
                    (3, "POST", "/call/Undo", #"{"ids":[1],"to":"/tmp"}"#),
                    (3, "POST", "/call/Concurrency", #"{"queue":"render","limit":"1","save":true}"#),
                    (3, "POST", "/tokens", #"{"name":"x","role":"steer"}"#), (3, "GET", "/tokens", ""),
                    (3, "POST", "/tokens/revoke", #"{"name":"look"}"#), (3, "POST", "/login", ""),
                ] as [(Int, String, String, String)] {
                    let answer = try await Self.curl(port, path, token, "-X", method, "-d", body, "-w", "%{http_code}")
                    #expect(answer.output.hasSuffix("403") == (needed > role), "\(place) \(path): \(answer.output)")
                    let head = ["Authorization: Bearer \(token)", "Content-Length: \(body.utf8.count)"]
                    let atSocket = try gallery.send(GalleryProcess.request(path, method: method, head) + body)
                    #expect(atSocket.hasPrefix("HTTP/1.1 403 ") == (needed > role), "\(place) \(path): \(atSocket)")
                }
            }
            #expect(gallery.process.errors.contains("the program with the token 'steer' calls CancelAll"))
            #expect(!gallery.process.errors.contains("calls List"))
        }
    }

    @Test("a token is listed without its secret, holds over a restart, and is refused once it is revoked")
    func revoked() async throws {
        try await DaemonFixture.with { daemon in
            let first = try await GalleryProcess(of: daemon, ["--listen", "127.0.0.1:0"])
            let port = try #require(first.port)
            let token = try await Self.token("look", of: daemon)
            let list = try await daemon.pipectl("gallery", "token")
            #expect(list.output.contains("look  look  ") && !list.output.contains(token), "\(list)")
            first.process.signal(SIGTERM)
            _ = await first.process.outcome()
            let gallery = try await GalleryProcess(of: daemon, ["--listen", port])
            #expect(try await Self.curl(port, "/healthz", token).status == 0)
            let revoked = try await daemon.pipectl("gallery", "token", "revoke", "look")
            #expect(revoked.output == "revoked: look\n")
            let refused = try await Self.curl(port, "/healthz", token)
            #expect(refused.output.contains("this token is unknown here, or has been revoked"), "\(refused)")
            #expect(gallery.process.status == nil)
        }
    }

    @Test("a revoked token ends its stream of events, and a request whose body is still coming")
    func revokedMeanwhile() async throws {
        try await GalleryProcess.with(["--listen", "127.0.0.1:0"]) { daemon, gallery in
            let port = try #require(gallery.port)
            let token = try await Self.token("steer", of: daemon)
            let login = "Authorization: Bearer \(token)"
            let events = try ChildProcess("/usr/bin/curl", ["--silent", "-N", "-H", login, "http://\(port)/events"])
            await events.until { events.output.contains(": here") || events.status != nil }
            let head = ["Content-Length: 2", login]
            let late = try gallery.client(GalleryProcess.request("/call/CancelAll", method: "POST", head) + "{")
            let page = try gallery.client(GalleryProcess.request("/plain", method: "POST", head) + "a")
            let upload = try gallery.client(GalleryProcess.request("/upload?name=a.png", method: "PUT", head) + "a")
            _ = try gallery.get("/healthz")
            _ = try await daemon.pipectl("gallery", "token", "revoke", "steer")
            for client in [late, page, upload] {
                try Socket.send("}".utf8, to: client)
                #expect(try GalleryProcess.all(from: client).hasPrefix("HTTP/1.1 401 "))
            }
            #expect(await events.outcome().status == 0)
            #expect(try daemon.call(Call.List(states: [])).jobs.isEmpty)
        }
    }

    @Test("a program with a token learns nothing about the machine's files")
    func files() async throws {
        try await GalleryProcess.with(["--listen", "127.0.0.1:0"]) { daemon, gallery in
            let port = try #require(gallery.port)
            let token = try await Self.token("look", of: daemon)
            for (body, words) in [(#"{"file":"/etc/shadow"}"#, "asks about a chain"), (#"{"chain":"noir"}"#, "noir")] {
                let answer = try await Self.curl(port, "/call/Explain", token, "-d", body)
                #expect(answer.output.contains(words), "\(answer)")
            }
        }
    }

    @Test("each mistake with tokens gets a message")
    func mistakes() async throws {
        try await GalleryProcess.with { daemon, _ in
            for (words, message) in [
                (["token", "mkae", "x"], "did you mean 'make'?"), (["tokne"], "did you mean 'token'?"),
                (["token", "make"], "give one NAME"), (["token", "revoke", "x"], "there is no token 'x'"),
                (["token", "make", "a b"], "a token's name has"), (["--role", "add"], "--role is for a new token"),
                (["token", "make", "x", "--role", "boss"], "a role is one of look, add, steer"),
            ] {
                let outcome = try await Programs.run("pipectl", ["--root", daemon.root.path, "gallery"] + words)
                #expect(outcome.status != 0 && outcome.errors.contains(message), "\(words): \(outcome)")
            }
        }
    }

    @Test(
        "the examples send pictures, wait over a restart of the gallery, fetch the results, and name what failed",
        arguments: ["send.py", "send.go"])
    func clients(_ script: String) async throws {
        try await DaemonFixture.with { daemon in
            let first = try await GalleryProcess(of: daemon, ["--listen", "127.0.0.1:0"])
            let port = try #require(first.port)
            let token = try await Self.token("add", of: daemon)
            _ = try daemon.call(Call.Pause(queue: "render", reason: "a test"))
            for name in ["a.png", "b.png"] { try daemon.write(Picture.small, to: name) }
            try daemon.write("no picture", to: "c.png")
            var environment = ProcessInfo.processInfo.environment
            environment["PIPELINED_TOKEN"] = token
            let file = "\(Self.clients)/\(script)"
            let (program, words) =
                script == "send.py"
                ? ("/usr/bin/python3", [file, "--recipe", "noir", "--to"])
                : (
                    try #require(environment["PIPELINED_GO"], "./run test installs Go and names it here"),
                    ["run", file, "-recipe", "noir", "-to"]
                )
            let pictures = ["a.png", "b.png", "c.png"].map { daemon.path($0) }
            let client = try ChildProcess(
                program, words + [daemon.path("results"), "http://\(port)"] + pictures, environment: environment)
            while try daemon.call(Call.Batches()).batches.first?.open != false { await Look.again() }
            first.process.signal(SIGKILL)
            _ = await first.process.outcome()
            let gallery = try await GalleryProcess(of: daemon, ["--listen", port])
            _ = try daemon.call(Call.Resume(queue: "render"))
            let outcome = await client.outcome()
            #expect(outcome.status == 1, "\(outcome)")
            #expect(outcome.errors.contains("c.png: ") && outcome.errors.contains("no picture"), "\(outcome)")
            let results = try FileManager.default.contentsOfDirectory(atPath: daemon.path("results")).sorted()
            #expect(results == ["1-1-a.jpg", "2-1-b.jpg"])
            #expect(outcome.output.split(separator: "\n").count == 2)
            #expect(gallery.process.status == nil)
        }
    }

    @Test("the guide's commands for curl send a picture and fetch its result")
    func curl() async throws {
        try await GalleryProcess.with(["--listen", "127.0.0.1:0"]) { daemon, gallery in
            let port = try #require(gallery.port)
            let token = try await Self.token("add", of: daemon)
            let guide = try String(
                contentsOfFile: "\(Self.clients)/../../docs/programs-on-other-machines.md", encoding: .utf8)
            let commands = guide.split(separator: "\n").filter { $0.hasPrefix("    curl ") }
            #expect(commands.count == 2)
            try daemon.write(Picture.small, to: "beach.jpg")
            for command in commands {
                let text = command.replacing("localhost:8080", with: port).replacing(
                    "/pictures/12/1", with: "/pictures/1/1")
                let outcome = try await Programs.run(
                    path: "/bin/sh", ["-c", "cd \(daemon.root.path) && \(text)"],
                    environment: ["PIPELINED_TOKEN": token])
                #expect(outcome.status == 0, "\(outcome)")
                try await daemon.waitForAll()
            }
            #expect(FileManager.default.fileExists(atPath: daemon.path("result.jpg")))
        }
    }
}
