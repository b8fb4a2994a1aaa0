import Foundation
import PipelineControl
import Synchronization
import TestTools
import Testing

@Suite("A login for downloads")
struct LoginTests {
    /// Returns a server that admits only clients with the password that `word` returns.
    private static func server(_ word: @escaping @Sendable () -> String) throws -> HTTPServer {
        try HTTPServer { request, connection in
            let isLet = request.headers["x-key"] == word()
            try connection.reply(isLet ? 200 : 401, [:], isLet ? Picture.small : Data("who?".utf8))
        }
    }

    private static func settings(_ port: Int, passwordFile: String) -> String {
        """
        [Daemon]
        Retries=0
        [Download]
        AllowPrivateHosts=127.0.0.1
        [Host 127.0.0.1:\(port)]
        Header=X-Key: {password}
        PasswordFile=\(passwordFile)
        PlainHTTP=allow

        """
    }

    private static func write(_ password: String, to name: String, of daemon: DaemonFixture, mode: Int = 0o600) throws {
        try daemon.write(password, to: name)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: daemon.path(name))
    }

    /// Adds `url`; returns its job when the job has ended.
    private static func download(_ url: String, by daemon: DaemonFixture) async throws -> Control.Job {
        _ = try await daemon.pipectl("add", url)
        try await daemon.waitForAll()
        return try #require(try daemon.list().max { $0.id < $1.id })
    }

    @Test("the password is read for each download, so a new one works at once, and only its server gets it")
    func rotation() async throws {
        let word = Mutex("canary-one")
        let server = try Self.server { word.withLock { $0 } }
        try await DaemonFixture.with(started: false) { daemon in
            try Self.write("canary-one\n", to: "password", of: daemon)
            try daemon.write(
                Self.settings(server.port, passwordFile: daemon.path("password")), to: "etc/pipelined.conf")
            try await daemon.start()
            #expect(try await Self.download(server.url("/a.png"), by: daemon).state == "done")
            word.withLock { $0 = "canary-two" }
            let refused = try await Self.download(server.url("/b.png"), by: daemon)
            #expect(refused.state == "failed")
            let story = try daemon.call(Call.Show(id: refused.id)).story
            #expect(story.advice?.contains("correct the login in [Host 127.0.0.1:\(server.port)]") == true)
            try Self.write("canary-two", to: "password", of: daemon)
            #expect(try await Self.download(server.url("/c.png"), by: daemon).state == "done")
            var said = try await daemon.pipectl("settings").output + daemon.pipectl("settings", "--json").output
            for job in try daemon.list() { said += try await daemon.pipectl("show", "\(job.id)", "--json").output }
            #expect(said.contains("X-Key: …"))
            await daemon.stop()
            said += daemon.log
            for file in daemon.files(in: ".") where file != "password" {
                said += String(decoding: try daemon.data(file), as: UTF8.self)
            }
            #expect(!said.contains("canary-"))
        }
    }

    @Test("an unreadable password fails downloads with the reason, and a reload that finds it unreadable is refused")
    func unreadable() async throws {
        let server = try Self.server { "word" }
        try await DaemonFixture.with(started: false) { daemon in
            let file = daemon.path("password")
            try daemon.write(Self.settings(server.port, passwordFile: file), to: "etc/pipelined.conf")
            try await daemon.start()
            let lost = try await Self.download(server.url("/a.png"), by: daemon)
            #expect(lost.state == "failed")
            let reason = "can't be read: open \(file): No such file or directory"
            #expect(lost.error == "the password of [Host 127.0.0.1:\(server.port)] \(reason)")
            #expect(server.seen.requests.isEmpty)
            for (text, mode, reason) in [
                ("word", 0o644, "everybody can read \(file); `chmod o-rwx` it"),
                ("word", 0o602, "everybody can write \(file); `chmod o-w` it"),
                ("", 0o600, "the first line of \(file) is not a valid password; write the password there"),
                ("a\tb", 0o600, "the first line of \(file) is not a valid password; write the password there"),
                (String(repeating: "w", count: 4097), 0o600, "as UTF-8 of at most 4096 bytes"),
            ] {
                try Self.write(text, to: "password", of: daemon, mode: mode)
                let problems = try daemon.call(Call.Reload()).problems
                #expect(problems.count == 1 && problems.allSatisfy { $0.message.contains(reason) }, "\(problems)")
            }
            try Self.write("word", to: "password", of: daemon)
            #expect(try daemon.call(Call.Reload()).problems == [])
            #expect(try await daemon.pipectl("retry", "--failed").status == 0)
            try await daemon.waitForAll()
            #expect(try daemon.list().allSatisfy { $0.state == "done" })
        }
    }

    @Test("the password can come from a credential of the service; without it the reload says how to provide it")
    func credential() async throws {
        let server = try Self.server { "word" }
        try await DaemonFixture.with(started: false) { daemon in
            try Self.write("word", to: "credentials/photos", of: daemon)
            try daemon.write(Self.settings(server.port, passwordFile: "photos"), to: "etc/pipelined.conf")
            try await daemon.start(under: ["/usr/bin/env", "CREDENTIALS_DIRECTORY=\(daemon.path("credentials"))"])
            #expect(try await Self.download(server.url("/a.png"), by: daemon).state == "done")
            await daemon.stop()
            try await daemon.start()
            let problem = try #require(try daemon.call(Call.Reload()).problems.first)
            #expect(problem.message.contains("LoadCredential=photos:PATH"))
        }
    }
}
