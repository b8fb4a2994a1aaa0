import Foundation
import Glibc
import PipelineModel
import SystemCalls
import TestTools
import Testing
import WorkerProtocol

@testable import FleetWorker

@Suite("A stranger at the server", .enabled(if: NATSServer.program != nil, "PIPELINED_NATS_SERVER names no server"))
struct StrangerTests {
    private static let free =
        #"{"name":"x","version":"\#(Release.version)","places":1,"taken":0,"lent":0,"filters":{}}"#

    private static func ask(_ client: PlainClient, _ verb: String, _ asked: Asked, _ bytes: [UInt8] = []) throws
        -> Answered
    {
        let parcel = try FramedMessage(asked, bytes).packed
        let answer = try client.ask("origin.a.\(verb).x", parcel)
        return try #require(answer.withUnsafeBytes(FramedMessage<Answered>.init)).words
    }

    @Test("a stranger may send an origin anything: the picture still returns")
    func origin() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let a = try NodeProcess("a", [server.url])
            let (id, targets) = try a.lend([bytes(1000)], maxResult: 5000)
            let client = try PlainClient(server.url)
            try client.hear(of: "a")
            for verb in ["read", "write", "progress", "done", "failed", "leave", "other", "begin.more"] {
                for payload in Self.nonsense {
                    try client.publish(payload, to: "origin.a.\(verb).x")
                    try client.publish(payload, to: "origin.a.\(verb).x", reply: "command.a.x")
                }
            }
            // The stranger claims to have a free place, and is offered the picture.
            let (offer, reply) = try client.offer(to: "x", saying: Self.free)
            let key = LentKey(origin: "a", run: offer.run, id: id)
            #expect(offer.picture.id == id)
            for payload in Self.nonsense { try client.publish(payload, to: reply) }
            try client.publish(#"{"word":"yes"}"#, to: reply)
            #expect(try a.begun(id) == "x")
            // Requests for the picture are refused if they come from a node that does not have it.
            for verb in ["read", "write", "progress", "done", "failed"] {
                let word = try Self.ask(client, verb, Asked(key, attempt: Token.made())).word
                #expect(word == (verb == "write" ? .again : .notWanted))
            }
            var asked = Asked(key, attempt: offer.attempt)
            let parcel = try FramedMessage(asked).packed
            for node in ["y", "UPPER", String(repeating: "x", count: 41)] {
                let answer = try client.ask("origin.a.progress.\(node)", parcel)
                #expect(try #require(answer.withUnsafeBytes(FramedMessage<Answered>.init)).words.word == .notWanted)
            }
            for (index, offset) in [(-1, 0), (1, 0), (0, -1), (0, 1001), (0, .max), (.max, 0)] as [(Int, Int64)] {
                (asked.index, asked.offset) = (index, offset)
                #expect(try Self.ask(client, "read", asked).word == .again)
            }
            for (index, offset, count) in [
                (-1, 0, 1), (1, 0, 1), (0, -1, 1), (0, 5000, 1), (0, .max, 1), (0, 0, 5001), (0, 0, 300_000),
            ]
                as [(Int, Int64, Int)]
            {
                (asked.index, asked.offset) = (index, offset)
                #expect(try Self.ask(client, "write", asked, bytes(count)).word == .again)
            }
            #expect(try targets[0].content.isEmpty)
            (asked.index, asked.offset) = (0, 0)
            #expect(try Self.ask(client, "write", asked, bytes(5000)).word == .yes)
            // A result whose bytes differ from its description is rejected.
            asked.result = Self.result(bytes: 5000, hash: String(repeating: "0", count: 64))
            #expect(try Self.ask(client, "done", asked).word == .again)
            for width in [0, -1, .max] {
                asked.result = Self.result(bytes: 5000, hash: "", width: width)
                #expect(try Self.ask(client, "done", asked).word == .again)
            }
            asked.result = nil
            // The stranger stops sending, and the picture goes to an honest node.
            let b = try NodeProcess("b", [server.url], places: 1)
            let taken = try b.fetch()
            try b.deliver(taken.id, [[1]])
            _ = try a.made(id)
            #expect(try targets[0].content == [1])
            #expect(try Self.ask(client, "write", asked, bytes(10)).word == .notWanted)
            #expect(a.ends(of: id) == 0)
        }
    }

    private static func result(bytes: Int64, hash: String, width: Int = 1) -> LentResult {
        let header = PictureHeader(
            format: "jpeg", width: width, height: 1, bands: 3, bitsPerSample: 8, pages: 1, orientation: 1, profile: nil,
            progressive: false, decoderPaths: ["whole"], framesTaken: [1], memory: 1)
        let output = RenderedOutput(format: "jpeg", width: 1, height: 1, bands: 3, bytes: bytes)
        let json = Data(#"{"bytes":\#(bytes),"sha256":"\#(hash)"}"#.utf8)
        let digest = (try? JSONDecoder().decode(FileDigest.self, from: json)).map { [$0] } ?? []
        return LentResult(header: header, outputs: [output], digests: digest)
    }

    private static let nonsense: [[UInt8]] = [
        [], [0], [0, 0, 0, 0], [255, 255, 255, 255], [0, 0, 0, 9], Array("{}".utf8), [0, 0, 0, 2] + Array("{}".utf8),
        [0, 0, 0, 4] + Array("null".utf8), bytes(10_000),
        [0, 0, 39, 16] + Array(repeating: UInt8(ascii: "["), count: 10_000),
        Array(repeating: UInt8(ascii: "["), count: 100_000),
    ]

    private static let picture = LentPicture(
        id: 1, name: "x", priority: .high, outputs: [RenderOutput(name: nil, stages: [Stage(name: "save")])],
        filters: [:], limits: LentLimits(maxPixels: 1, maxResult: 1, onTruncated: .fail, raw: .preview),
        bytes: .sources([1]))

    private static func offer(_ picture: LentPicture) throws -> [UInt8] {
        Array(try JSONEncoder().encode(Offer(run: Token.made(), attempt: Token.made(), picture: picture)))
    }

    @Test("a stranger may make any offer and claim anything about nodes without harm")
    func offers() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (try NodeProcess("a", [server.url]), try NodeProcess("b", [server.url], places: 1))
            let client = try PlainClient(server.url)
            for name in ["a", "b"] { try client.hear(of: name) }
            var bad = Array(repeating: Self.picture, count: 7)
            bad[0].bytes = .sources([-1])
            bad[1].bytes = .sources([])
            bad[2].outputs = []
            bad[3].filters = [String(repeating: "x", count: 65): ""]
            bad[4].bytes = .url("http://example.org/\u{1b}[2J", most: 1)
            bad[5].bytes = .url("http://example.org/" + String(repeating: "a", count: 9000), most: 1)
            bad[6].bytes = .url("http://example.org/", most: 0)
            for payload in try Self.nonsense + bad.map(Self.offer) {
                try client.publish(payload, to: "take.b.z", reply: "_INBOX.z.1")
            }
            let good = try Self.offer(Self.picture)
            // The first two offers have no valid reply subject. The others come from an invalid node name, and from
            // node b itself.
            try client.publish(good, to: "take.b.z")
            try client.publish(good, to: "take.b.z", reply: "command.b.z")
            for node in ["Z", "b"] { try client.publish(good, to: "take.b.\(node)", reply: "_INBOX.z.1") }
            for payload in Self.nonsense {
                for subject in ["nodes.a", "nodes.x", "nodes.X", "nodes.x.y", "room.b.x", "unwanted.b.x"] {
                    try client.publish(payload, to: subject)
                }
            }
            for node in [
                #"{"name":"x","version":"1","places":-1,"taken":0,"lent":0,"filters":{}}"#,
                #"{"name":"y","version":"1","places":1,"taken":0,"lent":0,"filters":{}}"#,
                #"{"name":"x","version":"1","places":1,"taken":0,"lent":0,"filters":[]}"#,
            ] {
                try client.publish(#"{"token":"t","node":\#(node)}"#, to: "nodes.x")
            }
            try client.publish(
                #"{"token":"t","node":\#(Self.free)}"#.replacing("\"x\"", with: "\"last\""), to: "nodes.last")
            let (id, _) = try a.lend([[1]], priority: .low)
            let taken = try b.fetch()
            #expect(taken.picture.id == id && taken.picture.name == "picture-1.jpg")
            try b.deliver(taken.id, [[2]])
            _ = try a.made(id)
            try b.sees("last")
            #expect(b.names == ["a"])
        }
    }

    @Test("a false origin can neither make a node wait for ever nor write more than it announced")
    func falseOrigin() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let b = try NodeProcess("b", [server.url], places: 1)
            try b.connected()
            let client = try PlainClient(server.url)
            try client.hear(of: "b")
            let answer = try client.ask("take.b.z", Self.offer(Self.picture))
            #expect(String(decoding: answer, as: UTF8.self) == #"{"word":"yes"}"#)
            let offer = try b.offered()
            #expect(offer.origin == "z")
            let files = try b.accept(offer.id, offer.picture)
            #expect(try !b.over(offer.id))
            #expect(try files[0].content.isEmpty)
        }
    }

    @Test("An origin's first answer counts, even if it arrives after the question was repeated")
    func late() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let b = try NodeProcess("b", [server.url], places: 1, patience: 60_000)
            try b.connected()
            let client = try PlainClient(server.url)
            try client.hear(of: "b")
            _ = try client.ask("take.b.z", Self.offer(Self.picture))
            let offer = try b.offered()
            let files = try b.accept(offer.id, offer.picture)
            let replies = try client.replies(to: "origin.z.read.b", 2)
            let size = try #require(offer.picture.bytes.sizes.first)
            let answer = try FramedMessage(Answered(.yes), bytes(Int(size))).packed
            try client.publish(answer, to: replies[0])
            try b.wait(for: "the picture") { if case .fetched(offer.id) = $0 { () } else { nil } }
            #expect(try files[0].content == bytes(Int(size)))
        }
    }

    @Test("Results that exceed the origin's limit are rejected, and nothing of them is written")
    func tooLarge() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (try NodeProcess("a", [server.url]), try NodeProcess("b", [server.url], places: 1))
            let (id, targets) = try a.lend([[1]], maxResult: 1000)
            let taken = try b.fetch()
            try b.deliver(taken.id, [bytes(1001)])
            #expect(try !b.over(taken.id))
            #expect(try targets[0].content.isEmpty)
            try a.send(.takeBack(id))
            try a.returned(id)
        }
    }
}
