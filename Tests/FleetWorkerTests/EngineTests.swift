import Foundation
import Glibc
import PipelineModel
import SystemCalls
import TestTools
import Testing
import WorkerProtocol

@testable import FleetWorker

@Suite("The engine", .enabled(if: NATSServer.program != nil, "PIPELINED_NATS_SERVER names no server"))
struct EngineTests {
    @Test("may be killed, and may forget everything: what is lent is offered again", arguments: [false, true])
    func restarted(wiped: Bool) async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let a = try FleetNode("a", [server.url])
            try a.connected()
            let ids = try (1...3).map { try a.lend([[UInt8($0)]]).id }
            try a.untilStreamHas(3, at: server.url)
            await server.kill()
            _ = try a.problem(with: "the line to \(server.url) is lost")
            // It is lent while nobody answers.
            let late = try a.lend([[4]]).id
            try await server.restart(wiped: wiped)
            let b = try FleetNode("b", [server.url], places: 4)
            for _ in ids + [late] { try b.deliver(try b.fetch().id, [[9]]) }
            for id in ids + [late] { _ = try a.made(id) }
        }
    }

    @Test("may be killed in the middle: what is taken is brought back afterwards", arguments: [false, true])
    func lostInTheMiddle(wiped: Bool) async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (try FleetNode("a", [server.url]), try FleetNode("b", [server.url], places: 1))
            let (id, targets) = try a.lend([bytes(500_000)])
            let taken = try b.fetch()
            await server.kill()
            _ = try b.problem(with: "is lost")
            let result = bytes(700_000, seed: 5)
            try b.deliver(taken.id, [result])
            try await server.restart(wiped: wiped)
            _ = try a.made(id)
            #expect(try targets[0].content == result)
            #expect(try b.over(taken.id))
            #expect(a.ends(of: id) == 0)
        }
    }

    @Test("that was not there at the start is used as soon as it is")
    func late() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            await server.kill()
            let a = try FleetNode("a", [server.url])
            let problem = try a.problem(with: "no NATS server answers at \(server.url)")
            #expect(problem.contains("Servers="))
            let (id, _) = try a.lend([[1]])
            try await server.restart()
            try a.connected()
            let b = try FleetNode("b", ["nats://127.0.0.1:1", server.url], places: 1)
            try b.deliver(try b.fetch().id, [[2]])
            _ = try a.made(id)
        }
    }

    @Test(
        "with a stream of other settings is not used, and what to do is said; once it is removed it is",
        arguments: [
            (#""retention":"limits","storage":"file""#, "retention=limits"),
            (#""retention":"workqueue","storage":"memory""#, "storage=memory"),
        ])
    func otherStream(settings: String, words: String) async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let client = try PlainClient(server.url)
            let made = try client.ask(
                "$JS.API.STREAM.CREATE.JOBS", #"{"name":"JOBS","subjects":["jobs.>"],"num_replicas":1,\#(settings)}"#)
            #expect(!made.contains("error"))
            let a = try FleetNode("a", [server.url])
            let problem = try a.problem(with: words)
            #expect(problem.contains("nats stream rm JOBS"))
            _ = try client.ask("$JS.API.STREAM.DELETE.JOBS", "")
            try a.connected()
        }
    }

    @Test("with a consumer of other settings is not used")
    func otherConsumer() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            try FleetNode("a", [server.url]).connected()
            let b = try FleetNode("b", [server.url], ackWait: 5000)
            #expect(try b.problem(with: "ack_wait=1000000000").contains("nats consumer rm JOBS"))
        }
    }

    @Test("without JetStream is not used")
    func noJetStream() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder, NATSServer.Options(jetStream: false))
            #expect(try FleetNode("a", [server.url]).problem(with: "no JetStream").contains("jetstream {}"))
        }
    }

    @Test("is no server that speaks something else")
    func somethingElse() throws {
        let server = try HTTPServer { _, connection in try connection.reply() }
        _ = try FleetNode("a", ["nats://127.0.0.1:\(server.port)"]).problem(with: "127.0.0.1:\(server.port)")
        let (one, other) = try Self.talker("HTTP/1.1 400 Bad Request\r\n\r\n")
        _ = try FleetNode("b", ["nats://127.0.0.1:\(other)"]).problem(with: "is no NATS server")
        withExtendedLifetime(one) {}
    }

    /// Says the same to everyone who connects.
    private static func talker(_ words: String) throws -> (Descriptor, Int) {
        let listener = try Loopback.listen()
        Thread.detachNewThread {
            while true {
                let number = accept(listener.number, nil, nil)
                guard number >= 0 else { return }
                let connection = Descriptor(owning: number)
                let bytes = Array(words.utf8)
                send(connection.number, bytes, bytes.count, Int32(MSG_NOSIGNAL))
            }
        }
        return (listener, try Loopback.port(of: listener))
    }

    @Test("that asks for certificates gets this node's, and shows its own", arguments: ["node"])
    func mutualTLS(name: String) async throws {
        try await withTemporaryFolder { folder in
            try NATSServer.certificates(in: folder)
            let server = try await NATSServer(in: folder, NATSServer.Options(tls: true))
            let files = Self.files(folder, name, "authority")
            let a = try FleetNode("a", [server.url], certificates: files)
            let b = try FleetNode("b", [server.url], places: 1, certificates: files)
            let (id, targets) = try a.lend([bytes(600_000)])
            let taken = try b.fetch()
            #expect(taken.sources == [bytes(600_000)])
            try b.deliver(taken.id, [bytes(400_000, seed: 2)])
            _ = try a.made(id)
            #expect(try targets[0].content == bytes(400_000, seed: 2))
            await server.kill()
            _ = try a.problem(with: "is lost")
            try await server.restart()
            try a.connected()
        }
    }

    @Test(
        "is not believed when a stranger has signed its certificate, or it is another's; nor is a node",
        arguments: [
            ("other", "authority", "server"), ("node", "stranger", "server"), ("node", "authority", "elsewhere"),
        ])
    func wrongCertificate(node: String, authority: String, of server: String) async throws {
        try await withTemporaryFolder { folder in
            try NATSServer.certificates(in: folder)
            if server != "server" {
                for suffix in ["pem", "key"] {
                    try FileManager.default.removeItem(atPath: "\(folder)/server.\(suffix)")
                    try FileManager.default.moveItem(
                        atPath: "\(folder)/\(server).\(suffix)", toPath: "\(folder)/server.\(suffix)")
                }
            }
            let server = try await NATSServer(in: folder, NATSServer.Options(tls: true))
            let a = try FleetNode("a", [server.url], certificates: Self.files(folder, node, authority))
            #expect(try a.problem(with: "certificate").contains(server.url))
        }
    }

    @Test("without TLS is not used by a node that has certificates, nor one with TLS by a node that has none")
    func oneSided() async throws {
        try await withTemporaryFolder { folder in
            try NATSServer.certificates(in: folder)
            let plain = try await NATSServer(in: folder)
            let files = Self.files(folder, "node", "authority")
            _ = try FleetNode("a", [plain.url], certificates: files).problem(with: "has no TLS")
            let secure = try await NATSServer(in: folder, NATSServer.Options(tls: true))
            for scheme in ["nats", "tls"] {
                _ = try FleetNode("a", ["\(scheme)://127.0.0.1:\(secure.port)"]).problem(with: "wants TLS")
            }
        }
    }

    private static func files(_ folder: String, _ name: String, _ authority: String) -> [String] {
        ["\(folder)/\(name).pem", "\(folder)/\(name).key", "\(folder)/\(authority).pem"]
    }

    @Test("shows the nodes to each other, what they have, and that two have the same name")
    func presence() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let a = try FleetNode("a", [server.url], places: 3)
            let b = try FleetNode("b", [server.url], places: 2)
            #expect(try a.sees("b").filters == FleetNode.stages)
            #expect(try b.sees("a").places == 3)
            _ = try b.lend([[1]])
            try a.wait(for: "that b lends") {
                $0.state?.nodes.contains { $0.name == "b" && $0.lent == 1 } == true ? () : nil
            }
            a.forget()
            b.kill()
            try a.wait(for: "that b is gone") { $0.state?.nodes.isEmpty == true ? () : nil }
            let twin = try FleetNode("a", [server.url])
            _ = try a.problem(with: "is called a, too")
            _ = try twin.problem(with: "is called a, too")
        }
    }

    @Test(
        "is refused in versions with known flaws",
        arguments: [
            ("2.11.15", "2.11.16"), ("2.11.16", nil), ("2.11.20", nil), ("2.12.6", "2.12.7"), ("2.12.7", nil),
            ("2.13.9", "2.14.0"), ("2.14.0-RC.1", nil), ("2.14.1", nil), ("3.0.0", nil), ("2.10.27", "2.14.0"),
        ] as [(String, String?)])
    func versions(version: String, needed: String?) throws {
        #expect(try #require(ServerVersion(version)).needed?.description == needed)
    }

    @Test(
        "is refused without a version, and with one that is nonsense",
        arguments: [nil, "", "2", "x.y.z", "2.11", "99999999999999999999.1.1"])
    func nonsense(version: String?) {
        #expect(throws: EngineProblem.self) { try Engine.checkVersion(version) }
    }
}
