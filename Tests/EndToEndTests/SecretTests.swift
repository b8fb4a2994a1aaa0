import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Passwords and tokens are never shown")
struct SecretTests {
    private static let (password, token) = ("canary-pass", "canary-token")

    private static let files = [
        "etc/pipelined.conf": "[Daemon]\nLog=operations\n[Download]\nAllowPrivateHosts=127.0.0.1\nRetries=0\n",
        "etc/recipes.d/noir.recipe": "[Recipe]\nHook=HOOK\n[Output]\nChain=noir | save format=jpeg\n",
    ]

    /// Returns the replies to every call that describes jobs, as text.
    private static func answers(of daemon: DaemonFixture) async throws -> String {
        let client = try RawClient(daemon)
        var told = ""
        for job in try daemon.list() {
            told += "\(try client.ask("Show", #"{"id":\#(job.id)}"#))"
            told += try await daemon.pipectl("show", "\(job.id)").output
        }
        for (method, parameters) in [
            ("List", #"{"states":[]}"#), ("Status", "{}"), ("Watch", #"{"cursor":0}"#), ("Progress", "{}"),
            ("Cancel", #"{"ids":[1]}"#),
        ] { told += "\(try client.ask(method, parameters))" }
        for words in [["list"], ["list", "--json"], ["status"], ["watch", "--since", "0", "--until-idle"]] {
            told += try await Programs.run("pipectl", ["--root", daemon.root.path] + words).output
        }
        return told
    }

    @Test("no text, answer, event, hook or log contains a password or token, and yet a retry uses them")
    func canary() async throws {
        let (password, token) = (Self.password, Self.token)
        let server = try HTTPServer { request, connection in
            switch request.path.prefix(while: { $0 != "?" }) {
            case "/moved.png":
                return try connection.reply(302, ["Location": "/there.png?sig=\(token)&a=b#access_token=\(token)"])
            case "/far.png": return try connection.reply(302, ["Location": "ftp://u:\(password)@h/x?key=\(token)"])
            case "/there.png", "/good.png": return try connection.reply(200, [:], Picture.small)
            default: try connection.reply(404)
            }
        }
        try await DaemonFixture.with(started: false) { daemon in
            let hook = daemon.path("hook")
            try daemon.write("#!/bin/sh\ncat >> \(daemon.path("hooked"))\n", to: "hook")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: hook)
            for (path, text) in Self.files {
                try daemon.write(text.replacingOccurrences(of: "HOOK", with: hook), to: path)
            }
            try await daemon.start()
            let host = "127.0.0.1:\(server.port)"
            let urls = [
                "http://user:\(password)@\(host)/good.png?X-Amz-Signature=\(token)", "http://\(host)/moved.png",
                "http://\(token)@\(host)/lost.png?api_key=\(token)", "http://\(host)/far.png",
                "http://user:\(password)@\(host):x/a", "http://user:\(password) \(password)@\(host)/a?token=\(token)",
                "ftp://user:\(password)@\(host)/a", "user:\(password)@\(host)/a.png", "http://\(host)/a;token=\(token)",
            ]
            let list = urls.joined(separator: "\n") + "\n"
            try daemon.drop(Data(list.utf8), as: "some.urls")
            var said = ""
            for url in urls {
                let outcome = try await daemon.pipectl("add", url)
                said += outcome.output + outcome.errors
            }
            try await daemon.waitForAll()
            // Jobs of invalid lines in a list can't be retried.
            let refused = #expect(throws: ControlError.self) { try daemon.call(Call.Retry(states: ["failed"])) }
            said += refused.map { "\($0)" } ?? ""
            try await daemon.waitForAll()
            said += try await Self.answers(of: daemon)
            #expect(said.contains("…@\(host)") && said.contains("X-Amz-Signature=…"))
            await daemon.stop()
            said += daemon.log
            // Skip the list, which belongs to its user, and the ledger, which stores whole URLs for retries.
            for file in daemon.files(in: ".") where !file.hasPrefix("state/ledger") && !file.hasSuffix("some.urls") {
                said += file + String(decoding: try daemon.data(file), as: UTF8.self)
            }
            #expect(said.contains("It came from:") && said.contains("\"kind\":\"picture\""))
            for secret in [password, token] {
                let around = said.range(of: secret).map {
                    said[..<$0.lowerBound].suffix(300) + said[$0.lowerBound...].prefix(60)
                }
                #expect(around == nil)
            }
            // The server received the whole URL, in the first attempt and in the retry.
            #expect(server.seen.requests("/lost.png?api_key=\(token)").count >= 2)
        }
    }

    @Test("only the daemon's user may read ledger and spool, whatever the umask, and older files are corrected")
    func rights() async throws {
        func modes(_ daemon: DaemonFixture) throws -> [String] {
            try ["state", "state/spool", "state/ledger.sqlite", "state/ledger.sqlite-wal", "state/ledger.sqlite-shm"]
                .map {
                    let attributes = try FileManager.default.attributesOfItem(atPath: daemon.path($0))
                    return String((attributes[.posixPermissions] as? Int ?? 0), radix: 8)
                }
        }
        try await DaemonFixture.with(started: false) { daemon in
            try await daemon.start(under: ["/bin/sh", "-c", "umask 0; exec \"$@\"", "-"])
            let own = ["700", "700", "600", "600", "600"]
            #expect(try modes(daemon) == own)
            await daemon.stop(SIGKILL)
            for (path, mode) in [
                ("state", 0o755), ("state/spool", 0o777), ("state/ledger.sqlite", 0o644),
                ("state/ledger.sqlite-wal", 0o666),
            ] {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: daemon.path(path))
            }
            try await daemon.start()
            #expect(try modes(daemon) == own)
        }
    }
}
