import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@testable import pipectl

struct FleetVerbTests {
    private static let fleet = Control.Fleet(
        name: "darkroom", server: "tls://fleet.example.org:4222", places: 2, taken: 0, lent: 4,
        nodes: [Control.Node(name: "attic", version: "0.1.0", places: 4, taken: 3, lent: 0)])

    private static func mode(_ path: String) throws -> String {
        String(try #require(try FileSystem.status(path), "\(path) is missing").mode & 0o777, radix: 8)
    }

    private static func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    /// Runs openssl, which must succeed; returns its output.
    private static func openssl(_ words: String...) async throws -> String {
        let outcome = await (try ChildProcess("/usr/bin/openssl", words)).outcome()
        #expect(outcome.status == 0, "\(words): \(outcome.errors)")
        return outcome.output
    }

    private static func overview(_ fleet: Control.Fleet?) -> Control.Overview {
        var overview = Sample.status()
        overview.fleet = fleet
        return overview
    }

    @Test("fleet alone is status --fleet")
    func alone() async throws {
        let daemon = try CannedDaemon()
        daemon.answer(Call.Status.self, .init(status: Self.overview(Self.fleet)))
        daemon.answer(
            Call.Ask.self, .init(answers: [.init(node: "attic", answered: false, error: "it does not answer")]))
        let outcome = try await Pipectl.run("fleet", at: daemon)
        #expect(outcome.status == 1 && outcome.errors.contains("attic: it does not answer"))
        let status = try await Pipectl.run("status", "--fleet", at: daemon)
        #expect(outcome.output == status.output)
        #expect(outcome.lines.first == Self.fleet.head.rendered(color: false))
        daemon.answer(Call.Status.self, .init(status: Self.overview(nil)))
        let without = try await Pipectl.run("fleet", at: daemon)
        #expect(without.status == 1)
        #expect(without.errors.contains("does not belong to a fleet; `pipectl help fleet`"))
    }

    @Test(
        "Invalid words are refused, each with the expected form",
        arguments: [
            (["inti"], "unexpected 'inti'; did you mean 'init'?"),
            (["init", "a.example.org"], "init needs SERVERS and NODES: pipectl fleet init SERVERS NODES [--to DIR]"),
            (["join"], "join needs FILE: pipectl fleet join FILE"),
            (["leave", "x"], "leave needs no further word: pipectl fleet leave"),
            (["add", "one", "two"], "add needs NODES: pipectl fleet add NODES [--for TIME] [--in DIR]"),
            (["add", "attic,Loft"], "'Loft' is not a node's name"),
            (["remove", "attic", "--for", "2d"], "--for is not for remove"),
            (["join", "a.join", "--to", "x"], "--to is not for join"),
            (["add", "attic", "--to", "x"], "--to is not for add"),
            (["--to", "x"], "--to needs a word before it"),
            (["init", "a,b,a", "darkroom"], "the server tls://a:4222 is named twice"),
            (["init", "a_b", "darkroom"], "'a_b' is not a server"),
            (["init", "10.1.2", "darkroom"], "'10.1.2' is not a server"),
            (["init", "a:0", "darkroom"], "'a:0' is not a server"),
            (["init", "a:65000", "darkroom"], "'a:65000' is not a server"),
            (["init", "[::1", "darkroom"], "'[::1' is not a server"),
            (["init", "a", "Darkroom"], "'Darkroom' is not a node's name"),
            (["init", "a", "darkroom,darkroom"], "the node darkroom is named twice"),
            (["init", "a", ","], "a fleet needs nodes"),
            (["init", ",", "darkroom"], "init needs a server"),
        ])
    func nonsense(words: [String], message: String) throws {
        let failure = #expect(throws: Failure.self) {
            let context = try Context(Parser.parse(["fleet"] + words))
            _ = try context.invocation.verb.run(context)
        }
        #expect(failure?.code == .usage)
        #expect(failure?.message.hasPrefix(message) == true, "\(failure?.message ?? "")")
    }

    @Test("A server may be a name or an address, with or without a port")
    func servers() throws {
        for (text, address, name) in [
            ("Fleet.example.org", "tls://fleet.example.org:4222", "DNS:fleet.example.org"),
            ("localhost:4300", "tls://localhost:4300", "DNS:localhost"),
            ("10.1.2.3", "tls://10.1.2.3:4222", "IP:10.1.2.3"),
            ("2001:db8::1", "tls://[2001:db8::1]:4222", "IP:2001:db8::1"),
            ("[2001:db8::1]:4300", "tls://[2001:db8::1]:4300", "IP:2001:db8::1"),
        ] {
            let server = try FleetServer(text)
            #expect(server.address == address)
            #expect(server.subjectName == name)
        }
    }

    @Test(
        "init writes an authority, a folder per server and a file per node, and keys that others can't read")
    func files() async throws {
        try await withTemporaryFolder { folder in
            let fleet = FileSystem.absolute("\(folder)/fleet")
            let made = try await Pipectl.run(
                "fleet", "init", "fleet.example.org", "darkroom,attic", "--to", fleet, "--json")
            #expect(made.status == 0, "\(made.errors)")
            let server = "\(fleet)/fleet.example.org"
            let document = try made.document()
            #expect(document["servers"] as? [String] == [server])
            #expect(document["nodes"] as? [String] == ["\(fleet)/darkroom.join", "\(fleet)/attic.join"])
            let files = try #require(document["files"] as? [String])
            let found = try FileManager.default.subpathsOfDirectory(atPath: fleet).map { "\(fleet)/\($0)" }
            #expect(files == found.filter { $0 != server }.sorted())
            for file in files {
                let isSecret = file.hasSuffix(".key") || file.hasSuffix("key.pem") || file.hasSuffix(".join")
                let mode = isSecret ? "600" : "644"
                #expect(try Self.mode(file) == mode, "\(file)")
                #expect(try Self.text(file).contains(/PRIVATE KEY|NKEY SEED/) == isSecret, "\(file)")
            }
            #expect(try Self.mode(fleet) == "700")
            let configuration = try Self.text("\(server)/nats.conf")
            #expect(configuration.contains("cd FOLDER && nats-server -c nats.conf\n"))
            #expect(!configuration.contains("jetstream"))
            #expect(configuration.contains(/\ntrusted: "O[A-Z2-7]{55}"\n/))
            #expect(!configuration.contains("cluster"))

            let again = try await Pipectl.run("fleet", "init", "fleet.example.org", "darkroom", "--to", fleet)
            #expect(again.status == 1)
            #expect(again.errors.contains("is not empty; nothing was written"))
        }
    }

    @Test("The servers' certificates are signed by the authority, and name the servers")
    func certificates() async throws {
        try await withTemporaryFolder { folder in
            let fleet = "\(folder)/fleet"
            _ = try await Pipectl.run("fleet", "init", "a.example.org,10.1.2.3,c:4300", "darkroom", "--to", fleet)
            let authority = "\(fleet)/authority.pem"
            for (server, name) in [
                ("a.example.org", "DNS:a.example.org"), ("10.1.2.3", "IP Address:10.1.2.3"), ("c", "DNS:c"),
            ] {
                let certificate = "\(fleet)/\(server)/certificate.pem"
                for purpose in ["sslserver", "sslclient"] {
                    _ = try await Self.openssl("verify", "-purpose", purpose, "-CAfile", authority, certificate)
                }
                let names = try await Self.openssl("x509", "-in", certificate, "-noout", "-ext", "subjectAltName")
                #expect(names.contains(name))
                let key = try await Self.openssl("pkey", "-in", "\(fleet)/\(server)/key.pem", "-pubout")
                let certified = try await Self.openssl("x509", "-in", certificate, "-noout", "-pubkey")
                #expect(key == certified)
            }
            let join = try JoinFile(at: "\(fleet)/darkroom.join")
            #expect(join.name == "darkroom")
            #expect(join.servers == ["tls://a.example.org:4222", "tls://10.1.2.3:4222", "tls://c:4300"])
            #expect(try Self.text(authority) == join.authority)
        }
    }

    @Test("Three servers form a cluster, whose routes accept only the servers' keys")
    func cluster() async throws {
        try await withTemporaryFolder { folder in
            let fleet = "\(folder)/fleet"
            _ = try await Pipectl.run("fleet", "init", "localhost,localhost:4300,[::1]:4400", "darkroom", "--to", fleet)
            let texts = try ["localhost-4222", "localhost-4300", "::1"].map {
                try Self.text("\(fleet)/\($0)/nats.conf")
            }
            #expect(texts[0].contains("\"nats-route://localhost:6300\"\n    \"nats-route://[::1]:6400\"\n"))
            #expect(texts[2].contains("\"nats-route://localhost:6222\"\n    \"nats-route://localhost:6300\"\n"))
            for text in texts { #expect(text.contains("verify: true")) }
        }
    }

    @Test("A node may use its own subjects, and none that would let it pose as another")
    func permissions() {
        let (published, heard) = (FleetClaims.published(by: "attic"), FleetClaims.heard(by: "attic"))
        #expect(published.count == 9 && published.allSatisfy { $0.hasSuffix(".attic") }, "\(published)")
        #expect(published.contains("origin.*.*.attic") && heard.contains("take.attic.*"))
        #expect(heard.allSatisfy { $0 == "nodes.*" || $0.contains(".attic.") }, "\(heard)")
    }

    @Test("Keys have NATS's format")
    func keys() {
        // The expected key was computed by another program.
        let bytes = (0..<32).map { UInt8($0) }
        #expect(NKey.publicKey(.account, bytes) == "AAAACAQDAQCQMBYIBEFAWDANBYHRAEISCMKBKFQXDAMRUGY4DUPB776S")
        #expect(NKey.seed(.user, bytes) == "SUAAAAICAMCAKBQHBAEQUCYMBUHA6EARCIJRIFIWC4MBSGQ3DQOR4H776Y")
    }

    @Test("Adding a node writes its file and changes no server; removing one changes the servers")
    func adding() async throws {
        try await withTemporaryFolder { folder in
            let fleet = "\(folder)/fleet"
            _ = try await Pipectl.run("fleet", "init", "a,b,c", "darkroom", "--to", fleet)
            func servers() throws -> [String] {
                try ["a", "b", "c"].flatMap { server in
                    try ["nats.conf", "nodes.conf"].map { try Self.text("\(fleet)/\(server)/\($0)") }
                }
            }
            let before = try servers()
            let added = try await Pipectl.run("fleet", "add", "attic,loft", "--for", "2d", "--in", fleet)
            #expect(added.status == 0 && !added.output.contains("server"), "\(added.output)\(added.errors)")
            #expect(try JoinFile(at: "\(fleet)/attic.join").name == "attic")
            #expect(try Self.mode("\(fleet)/loft.join") == "600")
            #expect(try servers() == before)
            let twice = try await Pipectl.run("fleet", "add", "cellar,attic", "--in", fleet)
            #expect(twice.status == 2 && twice.errors.contains("attic is a node of this fleet already"))
            #expect(!FileSystem.mayExist("\(fleet)/cellar.join"))
            for text in ["0s", "soon", "-1d"] {
                let bad = try await Pipectl.run("fleet", "add", "cellar", "--for=\(text)", "--in", fleet)
                #expect(bad.status == 2 && bad.errors.contains("is not a time; write it like 12h"), "\(bad.errors)")
            }
            #expect(try await Pipectl.run("fleet", "remove", "attic", "--in", fleet).status == 0)
            #expect(!FileSystem.mayExist("\(fleet)/attic.join"))
            let after = try servers()
            #expect(zip(after, before).map { $0 == $1 } == [true, false, true, false, true, false])
            let back = try await Pipectl.run("fleet", "add", "attic", "--in", fleet)
            #expect(back.status == 0, "\(back.errors)")
            let unknown = try await Pipectl.run("fleet", "remove", "atic", "--in", fleet)
            #expect(unknown.status == 2 && unknown.errors.contains("did you mean 'attic'"))
            let lost = try await Pipectl.run("fleet", "add", "attic", "--in", folder)
            #expect(lost.status == 1 && lost.errors.contains("with --in DIR"))
        }
    }

    @Test("Without openssl init names the package, and writes nothing")
    func noOpenSSL() async throws {
        try await withTemporaryFolder { folder in
            let outcome = try await Pipectl.run(
                "fleet", "init", "a", "darkroom", "--to", "\(folder)/fleet", environment: ["PATH": folder])
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("`apt install openssl`"))
            #expect(!FileSystem.mayExist("\(folder)/fleet"))
        }
    }

    // MARK: - join

    /// Runs `body` with a daemon, its configuration folder, and a node's file for `pipectl fleet join`.
    private func withNode(
        problems: @escaping @Sendable (_ etc: String) -> [Control.Problem] = { _ in [] },
        _ body: (_ daemon: CannedDaemon, _ etc: String, _ file: String) async throws -> Void
    ) async throws {
        let daemon = try CannedDaemon()
        let etc = "\(daemon.root)/etc"
        try FileSystem.makeFolders("\(etc)/recipes.d")
        daemon.answer(Call.Recipes.self, .init(recipes: [], folder: "\(etc)/recipes.d"))
        daemon.answer(Call.Status.self, .init(status: Self.overview(Self.fleet)))
        daemon.on(Call.Reload.self) { _, conversation in
            try conversation.reply(Call.Reload.Reply(problems: problems(etc), skipped: []))
        }
        let fleet = "\(daemon.root)/fleet"
        _ = try await Pipectl.run("fleet", "init", "fleet.example.org", "darkroom", "--to", fleet)
        try await body(daemon, etc, "\(fleet)/darkroom.join")
    }

    @Test("join writes the files and settings, has the daemon test them, reloads, and shows the fleet")
    func joining() async throws {
        try await withNode { daemon, etc, file in
            let outcome = try await Pipectl.run("fleet", "join", file, at: daemon)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try daemon.heard(Call.Reload.self).map(\.check) == [true, nil])
            #expect(outcome.lines.contains(Self.fleet.head.rendered(color: false)))
            #expect(outcome.output.contains("rm \(file)"))
            #expect(try Self.mode("\(etc)/fleet/node.creds") == "600")
            #expect(try Self.mode("\(etc)/fleet/authority.pem") == "644")
            let join = try JoinFile(at: file)
            #expect(try Self.text("\(etc)/fleet/node.creds") == join.credentials)
            #expect(try Self.text("\(etc)/fleet/authority.pem") == join.authority)
            let settings = try Self.text("\(etc)/pipelined.conf.d/fleet.conf").split(separator: "\n").map(String.init)
            #expect(
                settings.dropFirst() == [
                    "[Fleet]", "Name=darkroom", "Servers=tls://fleet.example.org:4222",
                    "Credentials=\(etc)/fleet/node.creds", "Authority=\(etc)/fleet/authority.pem",
                ])
            let again = try await Pipectl.run("fleet", "join", file, at: daemon)
            #expect(again.status == 1)
            #expect(again.errors.contains("fleet.conf exists already; nothing was written"))
            #expect(again.errors.contains("leave that fleet with `pipectl fleet leave`"))
        }
    }

    @Test("join fails when no server can be reached, and keeps its files")
    func notConnected() async throws {
        try await withNode { daemon, etc, file in
            var fleet = Self.fleet
            (fleet.server, fleet.problem) = (nil, "no NATS server answers")
            daemon.answer(Call.Status.self, .init(status: Self.overview(fleet)))
            let outcome = try await Pipectl.run("fleet", "join", file, at: daemon)
            #expect(outcome.status == 1)
            #expect(outcome.output.contains("problem: no NATS server answers"))
            #expect(outcome.output.contains("not connected"))
            #expect(FileSystem.mayExist("\(etc)/pipelined.conf.d/fleet.conf"))
        }
    }

    @Test("leave removes join's files and reloads, but keeps other settings")
    func leaving() async throws {
        try await withNode { daemon, etc, file in
            let nothing = try await Pipectl.run("fleet", "leave", at: daemon)
            #expect(nothing.status == 1 && nothing.errors.contains("has not joined a fleet"))
            _ = try await Pipectl.run("fleet", "join", file, at: daemon)
            let stranger = "\(etc)/fleet/notes.txt"
            try "mine".write(toFile: stranger, atomically: true, encoding: .utf8)
            let document = try await Pipectl.run("fleet", "leave", "--json", at: daemon).document()
            #expect((document["files"] as? [String])?.count == 3)
            #expect(try FileManager.default.subpathsOfDirectory(atPath: "\(etc)/fleet") == ["notes.txt"])
            #expect(try daemon.heard(Call.Reload.self).map(\.check) == [true, nil, nil])
            #expect(try await Pipectl.run("fleet", "join", file, at: daemon).status == 0)
            let settings = "\(etc)/pipelined.conf.d/fleet.conf"
            try "[Fleet]\n".write(toFile: settings, atomically: true, encoding: .utf8)
            let refused = try await Pipectl.run("fleet", "leave", at: daemon)
            #expect(refused.status == 1 && refused.errors.contains("has not written \(settings)"))
            #expect(FileSystem.mayExist(settings) && FileSystem.mayExist("\(etc)/fleet/node.creds"))
        }
    }

    @Test("The node's key belongs to the daemon's user", .enabled(if: Nobody.canOwnFiles))
    func owner() async throws {
        try await withNode { daemon, etc, file in
            #expect(chown(daemon.path, Nobody.number, Nobody.number) == 0)
            #expect(try await Pipectl.run("fleet", "join", file, at: daemon).status == 0)
            let owners = try ["node.creds", "authority.pem"].map { try FileSystem.status("\(etc)/fleet/\($0)")?.owner }
            #expect(owners == [Nobody.number, geteuid()])
        }
    }

    @Test("join --json prints one document")
    func document() async throws {
        try await withNode { daemon, etc, file in
            let document = try await Pipectl.run("fleet", "join", file, "--json", at: daemon).document()
            #expect(document.keys.sorted() == ["files", "fleet", "name", "problems", "servers"])
            #expect(document["name"] as? String == "darkroom")
            #expect((document["files"] as? [String])?.last == "\(etc)/pipelined.conf.d/fleet.conf")
            #expect((document["fleet"] as? [String: Any])?["name"] as? String == "darkroom")
        }
    }

    @Test("A rejected join leaves no files behind")
    func takenBack() async throws {
        let bad: @Sendable (String) -> [Control.Problem] = { etc in
            [.init(file: "\(etc)/pipelined.conf.d/fleet.conf", line: 4, message: "is no name")]
        }
        try await withNode(problems: bad) { daemon, etc, file in
            let outcome = try await Pipectl.run("fleet", "join", file, at: daemon)
            #expect(outcome.status == 1)
            #expect(outcome.errors.contains("the daemon can't use it, so nothing was written:\n"))
            #expect(try FileManager.default.subpathsOfDirectory(atPath: etc) == ["recipes.d"])
            #expect(try daemon.heard(Call.Reload.self).map(\.check) == [true])
        }
    }

    @Test("A mistake in another file is reported, and does not undo the join")
    func others() async throws {
        let bad: @Sendable (String) -> [Control.Problem] = { etc in
            [.init(file: "\(etc)/recipes.d/web.recipe", line: 9, message: "unknown stage 'niro'")]
        }
        try await withNode(problems: bad) { daemon, etc, file in
            let outcome = try await Pipectl.run("fleet", "join", file, at: daemon)
            #expect(outcome.status == 1)
            #expect(
                outcome.output.contains(
                    "it does not take effect because of another file: \(etc)/recipes.d/web.recipe:9:"))
            #expect(FileSystem.mayExist("\(etc)/pipelined.conf.d/fleet.conf"))
            #expect(try daemon.heard(Call.Reload.self).map(\.check) == [true])
        }
    }

    @Test("An invalid or truncated file is refused before anything is requested")
    func badFiles() async throws {
        try await withNode { daemon, _, file in
            let whole = try Self.text(file)
            let broken = "\(daemon.root)/broken.join"
            for (text, reason) in [
                ("", "it is not a file of `pipectl fleet init`"), (String(whole.prefix(400)), "or it is incomplete"),
                (whole.replacing("darkroom", with: "../etc"), "'../etc' is not a node's name"),
                (whole.replacing("tls://", with: "http://"), "it names no servers"),
                (whole.replacing("NKEY", with: "KEY"), "it has no key"),
            ] {
                try text.write(toFile: broken, atomically: true, encoding: .utf8)
                let outcome = try await Pipectl.run("fleet", "join", broken, at: daemon)
                #expect(outcome.status == 1)
                #expect(outcome.errors.contains(reason), "\(outcome.errors)")
            }
            let missing = try await Pipectl.run("fleet", "join", "\(daemon.root)/none.join", at: daemon)
            #expect(missing.status == 1 && missing.errors.contains("No such file or directory\njoin needs the file"))
            #expect(try daemon.heard(Call.Recipes.self).isEmpty)
        }
    }
}
