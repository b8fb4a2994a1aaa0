import Foundation
import Glibc
import PipelineModel
import SystemCalls
import TestTools
import Testing
import WorkerProtocol

@testable import FleetWorker

@Suite("The server of a fleet", .enabled(if: NATSServer.program != nil, "PIPELINED_NATS_SERVER names no server"))
struct ServerTests {
    @Test("after the server was killed and restarted, lent pictures are offered again")
    func restarted() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let a = try NodeProcess("a", [server.url])
            try a.connected()
            let ids = try (1...3).map { try a.lend([[UInt8($0)]]).id }
            await server.kill()
            _ = try a.problem(with: "the connection to \(server.url) is lost")
            // This picture is lent while the server is down.
            let late = try a.lend([[4]]).id
            try await server.restart()
            let b = try NodeProcess("b", [server.url], places: 4)
            for _ in ids + [late] { try b.deliver(try b.fetch().id, [[9]]) }
            for id in ids + [late] { _ = try a.made(id) }
        }
    }

    @Test("when the server is killed while a picture is being rendered, the result arrives after the restart")
    func lostInTheMiddle() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let a = try NodeProcess("a", [server.url], patience: 60_000)
            let b = try NodeProcess("b", [server.url], places: 1)
            let (id, targets) = try a.lend([bytes(500_000)])
            let taken = try b.fetch()
            await server.kill()
            _ = try b.problem(with: "is lost")
            let result = bytes(700_000, seed: 5)
            try b.deliver(taken.id, [result])
            try await server.restart()
            _ = try a.made(id)
            #expect(try targets[0].content == result)
            #expect(try b.over(taken.id))
            #expect(a.ends(of: id) == 0)
        }
    }

    @Test("a server that was missing at the start is used as soon as it appears")
    func late() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            await server.kill()
            let a = try NodeProcess("a", [server.url])
            let problem = try a.problem(with: "\(server.url): nothing listens at that port")
            #expect(problem.contains("Servers="))
            let (id, _) = try a.lend([[1]])
            try await server.restart()
            try a.connected()
            let b = try NodeProcess("b", ["nats://127.0.0.1:1", server.url], places: 1)
            try b.deliver(try b.fetch().id, [[2]])
            _ = try a.made(id)
        }
    }

    @Test("a node that meets no other node at a server tries the next, until the nodes meet")
    func lonely() async throws {
        try await withTemporaryFolder { folder in
            var servers: [NATSServer] = []
            for name in ["one", "two"] {
                let place = "\(folder)/\(name)"
                try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
                servers.append(try await NATSServer(in: place))
            }
            let urls = servers.map(\.url)
            let b = try NodeProcess("b", [urls[1]], places: 1)
            let a = try NodeProcess("a", urls)
            #expect(try a.connected() == urls[0])
            let (id, _) = try a.lend([[1]])
            _ = try a.problem(with: "no other node is connected to \(urls[0])")
            #expect(try a.connected() == urls[1])
            try b.deliver(try b.fetch().id, [[2]])
            _ = try a.made(id)
        }
    }

    @Test("a server that forbids a node's messages is reported as a problem, with the remedy")
    func forbids() async throws {
        try await withTemporaryFolder { folder in
            let user = #"{ user: x, password: x, permissions: { publish: ["jobs.>"] } }"#
            let options = NATSServer.Options(more: "authorization { users: [\(user)] }\nno_auth_user: x")
            let server = try await NATSServer(in: folder, options)
            #expect(try NodeProcess("a", [server.url]).problem(with: "Permissions Violation").contains("join again"))
        }
    }

    @Test("a port with another program or none is reported as such, with the remedy")
    func somethingElse() throws {
        let server = try HTTPServer { _, connection in try connection.reply() }
        let (talker, port) = try Self.talker("HTTP/1.1 400 Bad Request\r\n\r\n")
        for (address, words) in [
            ("nats://127.0.0.1:\(server.port)", "the server there is not a NATS server"),
            ("nats://127.0.0.1:\(port)", "the server there is not a NATS server"),
            ("nats://127.0.0.1:1", "nothing listens at that port"),
            ("nats://nowhere.invalid:4222", "there is no such host"),
        ] {
            #expect(try NodeProcess("a", [address]).problem(with: words).contains(address))
        }
        withExtendedLifetime(talker) {}
    }

    /// Returns a server that sends `words` to every client.
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

    @Test("the server that `pipectl fleet` sets up admits its nodes, even one that it has not met, and no other")
    func made() async throws {
        try await withTemporaryFolder { folder in
            let fleet = try MadeFleet(in: "\(folder)/fleet", "a")
            let server = try await NATSServer(in: folder, NATSServer.Options(made: fleet.server))
            try fleet.change("add", "b")
            let a = try NodeProcess("a", [server.url], files: fleet.files(of: "a"))
            let b = try NodeProcess("b", [server.url], places: 1, files: fleet.files(of: "b"))
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
            // The server rejects the messages of a node that uses another node's credentials.
            let twin = try NodeProcess("c", [server.url], files: fleet.files(of: "a"))
            _ = try twin.problem(with: "rejects this node's messages: Permissions Violation")
            let stranger = try MadeFleet(in: "\(folder)/stranger", "a")
            let files = [try stranger.files(of: "a")[0], try fleet.files(of: "a")[1]]
            _ = try NodeProcess("a", [server.url], files: files).problem(with: "the server belongs to another fleet")
        }
    }

    @Test("the server admits a node until its time is over, and rejects a node that was removed")
    func over() async throws {
        try await withTemporaryFolder { folder in
            let fleet = try MadeFleet(in: "\(folder)/fleet", "a", "b")
            let server = try await NATSServer(in: folder, NATSServer.Options(made: fleet.server))
            try fleet.change("add", "rented", "--for", "1s")
            let rented = try NodeProcess("rented", [server.url], files: fleet.files(of: "rented"))
            _ = try rented.problem(with: "this node was admitted only until ")
            let a = try NodeProcess("a", [server.url], files: fleet.files(of: "a"))
            try a.connected()
            try fleet.change("remove", "a")
            kill(server.identifier, SIGHUP)
            _ = try a.problem(with: "the node was removed from the fleet")
            // Removed nodes that are added again under the same names have new credentials.
            try fleet.change("add", "a,rented")
            for name in ["a", "rented"] {
                try NodeProcess(name, [server.url], files: fleet.files(of: name)).connected()
            }
        }
    }

    @Test("a node rejects a server whose certificate is a stranger's or is for another name", arguments: [true, false])
    func wrongCertificate(isOfStranger: Bool) async throws {
        try await withTemporaryFolder { folder in
            let fleet = try MadeFleet(in: "\(folder)/fleet", at: isOfStranger ? "127.0.0.1" : "127.0.0.9", "a")
            var files = try fleet.files(of: "a")
            if isOfStranger { files[1] = try MadeFleet(in: "\(folder)/stranger", "a").files(of: "a")[1] }
            let server = try await NATSServer(in: folder, NATSServer.Options(made: fleet.server))
            let a = try NodeProcess("a", [server.url], files: files)
            #expect(try a.problem(with: "has a certificate that is not accepted here").contains(server.url))
        }
    }

    @Test("a node with credentials rejects a server without TLS, and a node without them rejects a server with TLS")
    func oneSided() async throws {
        try await withTemporaryFolder { folder in
            let fleet = try MadeFleet(in: "\(folder)/fleet", "a")
            let plain = try await NATSServer(in: folder)
            _ = try NodeProcess("a", [plain.url], files: fleet.files(of: "a")).problem(with: "has no TLS")
            let secure = try await NATSServer(in: folder, NATSServer.Options(made: fleet.server))
            for scheme in ["nats", "tls"] {
                _ = try NodeProcess("a", ["\(scheme)://127.0.0.1:\(secure.port)"]).problem(with: "requires TLS")
            }
            for text in ["nothing", "-BEGIN CERTIFICATE-"] {
                let file = "\(folder)/other"
                try text.write(toFile: file, atomically: true, encoding: .utf8)
                _ = try NodeProcess("a", [secure.url], files: [file, fleet.files(of: "a")[1]])
                    .problem(with: "does not name NATS credentials")
            }
        }
    }

    @Test("the nodes see each other, each other's capabilities, and that two have the same name")
    func presence() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let a = try NodeProcess("a", [server.url], places: 3)
            let b = try NodeProcess("b", [server.url], places: 2)
            try a.sees("b") { $0.filters == NodeProcess.filters && $0.places == 2 }
            try b.sees("a") { $0.places == 3 }
            _ = try b.lend([[1]])
            try a.sees("b") { $0.lent == 1 }
            b.kill()
            try a.misses("b")
            let twin = try NodeProcess("a", [server.url])
            _ = try a.problem(with: "is called a, too")
            _ = try twin.problem(with: "is called a, too")
        }
    }

    @Test("a server can show more nodes than any user has")
    func many() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let a = try NodeProcess("a", [server.url])
            let client = try PlainClient(server.url)
            try client.hear(of: "a")
            let filters = (1...20).map { #""filter-\#($0)":"\#(String(repeating: "0", count: 64))""# }.joined(
                separator: ",")
            for number in 1...1000 {
                let node =
                    #"{"name":"n\#(number)","version":"1","places":1,"taken":0,"lent":0,"filters":{\#(filters)}}"#
                try client.publish(#"{"token":"t","node":\#(node)}"#, to: "nodes.n\(number)")
            }
            for number in 1...1000 { try a.sees("n\(number)") }
        }
    }
}
