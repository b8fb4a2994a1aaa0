import Foundation
import Glibc
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

/// Returns pseudo-random bytes, so that no two pieces are equal.
func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 33)
    }
}

@Suite("A lent picture", .enabled(if: NATSServer.program != nil, "PIPELINED_NATS_SERVER names no server"))
struct LendingTests {
    @Test("The pictures of a lost node are offered again, even after others of its pictures have ended")
    func forgotten() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (try NodeProcess("a", [server.url]), try NodeProcess("b", [server.url], places: 4))
            let ids = try (1...4).map { try a.lend([[UInt8($0)]]).id }
            let taken = try ids.map { _ in try b.fetch() }
            // Take back one picture, deliver one, and leave two with node b.
            try a.send(.takeBack(ids[3]))
            try a.returned(ids[3])
            try b.deliver(taken[2].id, [[9]])
            _ = try a.made(ids[2])
            b.kill()
            let c = try NodeProcess("c", [server.url], places: 4)
            for _ in 0..<2 { try c.deliver(try c.fetch().id, [[8]]) }
            for id in ids.prefix(2) { _ = try a.made(id) }
        }
    }

    @Test("a picture is offered to another node, fetched, and its result returns byte for byte, once")
    func whole() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (try NodeProcess("a", [server.url]), try NodeProcess("b", [server.url], places: 1))
            #expect(a.missing == b.missing)
            let sources = [bytes(1_000_000), bytes(70, seed: 2), []]
            let (id, targets) = try a.lend(sources, outputs: 2, stages: ["resize", "noir", "save"])
            let taken = try b.fetch()
            #expect(taken.sources == sources)
            #expect(taken.picture.outputs.map(\.stages.count) == [3, 3])
            #expect(try a.begun(id) == "b")
            try b.send(.progress(taken.id, done: 5, total: 10))
            try a.wait(for: "progress") { if case .progress(id, 5, 10) = $0 { () } else { nil } }
            let results = [bytes(600_000, seed: 3), bytes(1, seed: 4)]
            try b.deliver(taken.id, results)
            let made = try a.made(id)
            #expect(made.header.width == 640)
            #expect(made.outputs.map(\.bytes) == [600_000, 1])
            #expect(try targets.map { try $0.content } == results)
            #expect(try b.over(taken.id))
            // The node's next message is about the second picture, so nothing about the first was sent twice.
            let (next, _) = try a.lend([bytes(10)])
            let second = try b.fetch()
            try b.deliver(second.id, [bytes(20)])
            _ = try a.made(next)
            #expect(a.ends(of: id) == 0)
        }
    }

    @Test("high-priority pictures go first, and no node gets more offers than it has places")
    func priority() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let a = try NodeProcess("a", [server.url])
            try a.connected()
            for priority in [Priority.low, .normal, .high] { _ = try a.lend([[1]], priority: priority) }
            let b = try NodeProcess("b", [server.url], places: 1)
            for priority in [Priority.high, .normal, .low] {
                let taken = try b.fetch()
                #expect(taken.picture.priority == priority)
                try b.deliver(taken.id, [[2]])
                try b.over(taken.id)
            }
        }
    }

    @Test("a node that fetches two pictures gets no third: it goes to another node, to keep a slow link responsive")
    func fetched() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (
                try NodeProcess("a", [server.url], patience: 60_000), try NodeProcess("b", [server.url], places: 4)
            )
            let ids = try (1...3).map { try a.lend([[UInt8($0)]]).id }
            let offers = [try b.offered(), try b.offered()]
            let c = try NodeProcess("c", [server.url], places: 1)
            #expect(try c.offered().picture.id == ids[2])
            let (last, _) = try a.lend([[4]])
            _ = try b.accept(offers[0].id, offers[0].picture)
            #expect(try b.offered().picture.id == last)
        }
    }

    @Test("a picture that a node refuses goes to another node")
    func refused() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let a = try NodeProcess("a", [server.url])
            let b = try NodeProcess("b", [server.url], places: 1)
            let (id, _) = try a.lend([[1]])
            try b.send(.refuse(try b.offered().id, reason: "too large"))
            let c = try NodeProcess("c", [server.url], places: 1)
            try c.deliver(try c.fetch().id, [[2]])
            _ = try a.made(id)
        }
    }

    @Test("a picture for one node is offered to no other; the origin is told if that node refuses it or is silent")
    func only() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (try NodeProcess("a", [server.url]), try NodeProcess("b", [server.url], places: 1))
            let c = try NodeProcess("c", [server.url])
            try a.sees("b")
            let (id, _) = try a.lend([[1]], only: "c")
            let (other, _) = try a.lend([[2]])
            // Node b gets picture `other`, although it was lent later.
            let taken = try b.fetch()
            #expect(taken.picture.id == other)
            try b.deliver(taken.id, [[3]])
            _ = try a.made(other)
            try c.send(.take(1))
            let offer = try c.offered()
            #expect(offer.picture.id == id)
            try c.send(.refuse(offer.id, reason: "its disk is\u{1b} full"))
            #expect(try a.untaken(id) == .refused("its disk is\\u{1b} full"))
            try c.stop()
            let (silent, _) = try a.lend([[1]], only: "c")
            #expect(try a.untaken(silent) == .silent)
            let (whole, targets) = try a.lend([[4]], only: "b")
            try b.deliver(try b.fetch().id, [[5]])
            _ = try a.made(whole)
            #expect(try targets[0].content == [5])
        }
    }

    @Test("the origin is told if the only node for a picture falls silent after it has accepted")
    func onlySilent() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (try NodeProcess("a", [server.url]), try NodeProcess("b", [server.url], places: 1))
            let (id, _) = try a.lend([[1]], only: "b")
            _ = try b.offered()
            try b.stop()
            #expect(try a.untaken(id) == .silent)
        }
    }

    @Test("a picture goes only to a node that has its filters in the same versions, as soon as there is one")
    func filters() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let a = try NodeProcess("a", [server.url])
            let (id, _) = try a.lend([[1]], filters: ["noir": "1"])
            for filters in [[:], ["noir": "2"]] {
                let b = try NodeProcess("b", [server.url], places: 1, filters: filters)
                let (plain, _) = try a.lend([[2]])
                // The picture that needs the filter was lent earlier, but this node lacks the filter.
                let taken = try b.fetch()
                #expect(taken.picture.id == plain)
                try b.deliver(taken.id, [[3]])
                _ = try a.made(plain)
                b.kill()
                try a.misses("b")
            }
            let c = try NodeProcess("c", [server.url], places: 1, filters: [:])
            try c.send(.filters(["noir": "1"]))
            try c.deliver(try c.fetch().id, [[2]])
            _ = try a.made(id)
        }
    }

    @Test("a picture that a node defers returns to it when it has a place")
    func putOff() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (try NodeProcess("a", [server.url]), try NodeProcess("b", [server.url], places: 1))
            let (id, _) = try a.lend([[1]])
            let offer = try b.offered()
            try b.send(.take(0))
            try b.send(.putOff(offer.id))
            try b.send(.take(1))
            try b.deliver(try b.fetch().id, [[2]])
            _ = try a.made(id)
        }
    }

    @Test("a node takes pictures from several origins in turn")
    func turns() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let origins = try ["x", "y", "z"].map { try NodeProcess($0, [server.url]) }
            for origin in origins { try origin.connected() }
            for origin in origins { for number in 1...6 { _ = try origin.lend([[UInt8(number)]]) } }
            let b = try NodeProcess("b", [server.url], places: 1)
            let client = try PlainClient(server.url)
            var counts: [String: Int] = [:]
            while counts.count < 3 || counts.values.min()! < 2 {
                let taken = try b.fetch()
                try client.hearWaiting(at: "b", Set(origins.map(\.name)).subtracting([taken.origin]))
                try b.deliver(taken.id, [[2]])
                try b.over(taken.id)
                counts[taken.origin, default: 0] += 1
            }
            // Some imbalance is possible: if an origin gets no processor time while the node keeps a place for it, the
            // origin loses the place.
            #expect(counts.values.max()! < 5, "\(counts)")
        }
    }

    @Test("a picture that its origin takes back is returned, and a late result is rejected")
    func takenBack() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let a = try NodeProcess("a", [server.url])
            let (early, _) = try a.lend([[1]])
            try a.send(.takeBack(early))
            try a.returned(early)
            let b = try NodeProcess("b", [server.url], places: 1)
            let (late, targets) = try a.lend([[2]])
            let taken = try b.fetch()
            #expect(taken.picture.id == late)
            try a.send(.takeBack(late))
            try a.returned(late)
            try b.deliver(taken.id, [[3]])
            _ = try b.over(taken.id)
            #expect(try targets[0].content.isEmpty)
            let (next, _) = try a.lend([[4]])
            let other = try b.fetch()
            #expect(other.picture.id == next)
            try b.deliver(other.id, [[5]])
            _ = try a.made(next)
            #expect(a.ends(of: late) == 0 && a.ends(of: early) == 0)
        }
    }

    @Test("a picture that its origin no longer wants is withdrawn, before the render and during it")
    func withdrawn() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (try NodeProcess("a", [server.url]), try NodeProcess("b", [server.url], places: 2))
            let (one, _) = try a.lend([[1]])
            let taken = try b.fetch()
            try a.send(.takeBack(one))
            #expect(try !b.over(taken.id))
            let (two, _) = try a.lend([[1]])
            let offer = try b.offered()
            try a.send(.takeBack(two))
            try a.returned(two)
            _ = try b.accept(offer.id, offer.picture)
            #expect(try !b.over(offer.id))
        }
    }

    @Test("a picture that a node can't render fails with the node's reason")
    func failed() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (try NodeProcess("a", [server.url]), try NodeProcess("b", [server.url], places: 1))
            let (id, _) = try a.lend([[1]])
            let taken = try b.fetch()
            try b.send(.failed(taken.id, WorkerFailure(stage: "open", message: "it is\u{1b}[2J no picture")))
            #expect(try b.over(taken.id))
            let failure = try a.failure(of: id)
            #expect(failure.message == "it is\\u{1b}[2J no picture (on the node b)")
            #expect(failure.stage == "open" && failure.class == .input)
        }
    }

    @Test("the picture of a killed node is offered to another node")
    func killed() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (try NodeProcess("a", [server.url]), try NodeProcess("b", [server.url], places: 1))
            let (id, targets) = try a.lend([bytes(300_000)])
            _ = try b.fetch()
            #expect(try a.begun(id) == "b")
            b.kill()
            let c = try NodeProcess("c", [server.url], places: 1)
            let taken = try c.fetch()
            #expect(taken.sources == [bytes(300_000)])
            #expect(try a.begun(id) == "c")
            try c.deliver(taken.id, [[7]])
            _ = try a.made(id)
            #expect(try targets[0].content == [7])
        }
    }

    @Test("a picture whose node's daemon hangs is offered to another node, though the connection is alive")
    func hanging() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (try NodeProcess("a", [server.url]), try NodeProcess("b", [server.url], places: 1))
            let (id, _) = try a.lend([[1]])
            _ = try b.fetch()
            b.hangs()
            let c = try NodeProcess("c", [server.url], places: 1)
            try c.deliver(try c.fetch().id, [[7]])
            _ = try a.made(id)
        }
    }

    @Test("a picture with which three nodes are lost fails, and the error names the nodes")
    func dangerous() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let a = try NodeProcess("a", [server.url])
            let (id, _) = try a.lend([[1]])
            for name in ["b", "c", "d"] {
                let node = try NodeProcess(name, [server.url], places: 1)
                _ = try node.fetch()
                node.kill()
            }
            let failure = try a.failure(of: id)
            #expect(failure.class == .crash)
            #expect(failure.message.contains("b, c, d"))
        }
    }

    @Test("the picture of a killed origin is abandoned: the origin's successor does not know it")
    func originKilled() async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (try NodeProcess("a", [server.url]), try NodeProcess("b", [server.url], places: 1))
            _ = try a.lend([[1]])
            let taken = try b.fetch()
            _ = try a.lend([[2]])
            a.kill()
            let again = try NodeProcess("a", [server.url])
            try again.connected()
            #expect(try !b.over(taken.id))
            let (id, _) = try again.lend([[3]])
            let other = try b.fetch()
            #expect(other.sources == [[3]])
            try b.deliver(other.id, [[4]])
            _ = try again.made(id)
        }
    }
}
