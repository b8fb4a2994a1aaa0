import Foundation
import Glibc
import PipelineModel
import SystemCalls
import TestTools
import Testing
import WorkerProtocol

@testable import FleetWorker

@Suite("A stranger at the engine", .enabled(if: NATSServer.program != nil, "PIPELINED_NATS_SERVER names no server"))
struct StrangerTests {
    /// The run and the subject of the one picture that is lent.
    private static func job(_ client: PlainClient) throws -> LentKey {
        let request = #"{"last_by_subj":"jobs.>"}"#
        while true {
            let answer = Data(try client.ask("$JS.API.STREAM.MSG.GET.JOBS", Array(request.utf8)))
            let message = (try JSONSerialization.jsonObject(with: answer) as? [String: Any])?["message"]
            guard let subject = (message as? [String: Any])?["subject"] as? String else { continue }
            return try #require(LentKey(subject: subject))
        }
    }

    private static func ask(_ client: PlainClient, _ verb: String, _ asked: Asked, _ bytes: [UInt8] = []) throws
        -> Answered
    {
        let parcel = try Parcel(asked, bytes).packed
        let answer = try client.ask("origin.a.\(verb)", parcel)
        return try #require(answer.withUnsafeBytes(Parcel<Answered>.init)).words
    }

    @Test("may send what it likes to an origin: the picture still comes back")
    func origin() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let a = try FleetNode("a", [server.url])
            let (id, targets) = try a.lend([bytes(1000)], maxResult: 5000)
            let client = try PlainClient(server.url)
            let key = try Self.job(client)
            for verb in ["begin", "read", "write", "progress", "done", "failed", "other", "*", "", "begin.more"] {
                for payload in Self.nonsense where !verb.isEmpty && verb != "*" {
                    try client.publish(payload, to: "origin.a.\(verb)")
                    try client.publish(payload, to: "origin.a.\(verb)", reply: "$JS.API.STREAM.DELETE.JOBS")
                }
            }
            var asked = Asked(key, node: "x", attempt: Token.made())
            // Who has not begun can do nothing.
            for verb in ["read", "write", "progress", "done", "failed"] {
                #expect(try Self.ask(client, verb, asked).word == (verb == "write" ? .again : .notWanted))
            }
            for node in ["", "x.y", "UPPER", String(repeating: "x", count: 41)] {
                let other = Asked(key, node: node, attempt: Token.made())
                #expect(try Self.ask(client, "begin", other).word == .notWanted)
            }
            #expect(try Self.ask(client, "begin", asked).word == .yes)
            #expect(try Self.ask(client, "begin", Asked(key, node: "y", attempt: Token.made())).word == .busy)
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
            // A result that has not come as it is said to be is not taken.
            asked.result = Self.result(bytes: 5000, hash: String(repeating: "0", count: 64))
            #expect(try Self.ask(client, "done", asked).word == .again)
            for width in [0, -1, .max] {
                asked.result = Self.result(bytes: 5000, hash: "", width: width)
                #expect(try Self.ask(client, "done", asked).word == .again)
            }
            asked.result = nil
            // It falls silent, and an honest node gets the picture.
            let b = try FleetNode("b", [server.url], places: 1)
            let taken = try b.fetch(isPatient: true)
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

    @Test("may put what it likes into the stream, and say what it likes of nodes: nobody is harmed")
    func stream() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (try FleetNode("a", [server.url]), try FleetNode("b", [server.url], places: 1))
            try a.connected()
            let client = try PlainClient(server.url)
            let picture = LentPicture(
                id: 1, name: "x", priority: .high, outputs: [RenderOutput(name: nil, stages: [Stage(name: "save")])],
                limits: LentLimits(maxPixels: 1, maxResult: 1, onTruncated: .fail, raw: .preview), bytes: .sources([1]))
            var bad = Array(repeating: picture, count: 7)
            bad[0].bytes = .sources([-1])
            bad[1].bytes = .sources([])
            bad[4].bytes = .url("http://example.org/\u{1b}[2J", most: 1)
            bad[5].bytes = .url("http://example.org/" + String(repeating: "a", count: 9000), most: 1)
            bad[6].bytes = .url("http://example.org/", most: 0)
            bad[2].outputs = []
            bad[3].id = 2
            let run = Token.made()
            let payloads =
                try Self.nonsense + bad.map { Array(try JSONEncoder().encode(LentJob(run: run, picture: $0))) }
            for subject in [
                "jobs.high.z.\(run)-1", "jobs.high.z.x", "jobs.high.z", "jobs.low.Z.\(run)-1", "jobs.other.z.\(run)-1",
            ] {
                for payload in payloads { try client.publish(payload, to: subject) }
            }
            for payload in Self.nonsense {
                for subject in ["nodes.a", "nodes.x", "nodes.X", "nodes.x.y", "wake", "nodes."]
                where !subject.hasSuffix(".") {
                    try client.publish(payload, to: subject)
                }
            }
            for node in [
                #"{"name":"x","version":"1","places":-1,"taken":0,"lent":0,"filters":[]}"#,
                #"{"name":"y","version":"1","places":1,"taken":0,"lent":0,"filters":[]}"#,
            ] {
                try client.publish(#"{"token":"t","node":\#(node)}"#, to: "nodes.x")
            }
            let (id, _) = try a.lend([[1]], priority: .low)
            let taken = try b.fetch()
            #expect(taken.picture.id == id && taken.picture.name == "picture-1.jpg")
            try b.deliver(taken.id, [[2]])
            _ = try a.made(id)
            try b.wait(for: "that a is there") { $0.state?.nodes.map(\.name) == ["a"] ? () : nil }
        }
    }

    @Test("that poses as an origin can't have a node wait for ever, nor write more than was announced")
    func falseOrigin() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let b = try FleetNode("b", [server.url], places: 1)
            try b.connected()
            let client = try PlainClient(server.url)
            let picture = LentPicture(
                id: 1, name: "x", priority: .high, outputs: [RenderOutput(name: nil, stages: [Stage(name: "save")])],
                limits: LentLimits(maxPixels: 1, maxResult: 1, onTruncated: .fail, raw: .preview), bytes: .sources([1]))
            let run = Token.made()
            try client.publish(
                Array(try JSONEncoder().encode(LentJob(run: run, picture: picture))), to: "jobs.high.z.\(run)-1")
            let offer = try b.offered()
            #expect(offer.origin == "z")
            let files = try b.accept(offer.id, offer.picture)
            #expect(try !b.over(offer.id))
            #expect(try files[0].content.isEmpty)
        }
    }

    @Test("A picture whose results are larger than the origin allows is never made")
    func tooLarge() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (try FleetNode("a", [server.url]), try FleetNode("b", [server.url], places: 1))
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

struct SubjectTests {
    @Test(
        "A subject that names no picture is none",
        arguments: [
            "", "jobs", "jobs.high.a", "jobs.high.a.1-1", "jobs.high.A.0123456789abcdef-1",
            "jobs.best.a.0123456789abcdef-1",
            "jobs.high.a.0123456789abcdef-1.x", "jobs.high.a.0123456789abcdef-x", "jobs.high.a.0123456789ABCDEF-1",
            "jobs.high..0123456789abcdef-1",
            "nodes.high.a.0123456789abcdef-1",
        ])
    func none(subject: String) { #expect(LentKey(subject: subject) == nil) }

    @Test("A picture's subject names it")
    func names() {
        let key = LentKey(origin: "a-1", run: Token.made(), id: 7)
        #expect(LentKey(subject: Subject.job(key, .high)) == key)
    }
}
