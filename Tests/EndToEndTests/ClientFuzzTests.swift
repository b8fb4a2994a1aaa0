import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("10,000 mutated messages")
struct ClientFuzzTests {
    /// A random number generator that produces the same numbers for the same seed on every machine.
    private struct Dice {
        var state: UInt64

        mutating func roll(_ sides: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(sides))
        }

        mutating func pick<Element>(_ list: [Element]) -> Element { list[roll(list.count)] }
    }

    private static let messages = 10_000
    private static let pieces = [
        "\"", "{", "}", "[", "]", ",", ":", "null", "1e999", "-0", "\\u0000", "\\ud800", "\u{0}", "true", "more",
    ]

    /// Returns a random call, valid or invalid.
    private func message(_ dice: inout Dice, _ methods: [DescribedMethod]) -> [UInt8] {
        if dice.roll(10) == 0 { return (0..<dice.roll(300)).map { _ in UInt8(dice.roll(256)) } + [0] }
        let method = dice.pick(methods)
        var parameters = method.json()
        if let (name, type) = method.parameters.isEmpty ? nil : dice.pick(method.parameters) {
            let values = DescribedMethod.odd(type).filter { $0.utf8.count < 1000 } + DescribedMethod.wrong(type)
            parameters = method.json(name, dice.pick(values))
        }
        var bytes = RawClient.call(method.name, parameters, more: dice.roll(4) == 0)
        guard dice.roll(2) == 0 else { return bytes }
        for _ in 0...dice.roll(4) {
            let place = dice.roll(bytes.count)
            switch dice.roll(4) {
            case 0: bytes[place] = UInt8(dice.roll(256))
            case 1: bytes.insert(contentsOf: dice.pick(Self.pieces).utf8, at: place)
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + dice.roll(20)))
            default: bytes.replaceSubrange(place..., with: bytes[..<place])
            }
            if bytes.isEmpty { return [0] }
        }
        return bytes + [0]
    }

    /// Reads all pending replies, so that the daemon is not blocked for long. Returns false if it has closed the
    /// connection.
    private func drain(_ client: RawClient) -> Bool {
        var state = pollfd(fd: client.socket.number, events: Int16(POLLIN), revents: 0)
        while poll(&state, 1, 0) > 0 {
            guard let packet = try? Socket.receive(room: 65536, from: client.socket), !packet.bytes.isEmpty else {
                return false
            }
        }
        return true
    }

    @Test(
        "a good client gets correct answers throughout, and the daemon is unchanged afterwards",
        arguments: Sweep.of(2026...2026, all: 2026...2028))
    func fuzz(seed: Int) async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write(Picture.small, to: "mine/good.png")
            let picture = try Descriptor.open(daemon.path("mine/good.png"), O_RDONLY)
            let good = try daemon.client()
            // Reload is left out, because each reload starts a worker, which would only slow the test down.
            let methods = try DescribedMethod.all(RawClient(daemon)).filter { $0.name != "Reload" }
            try await daemon.waitForAll()
            let (before, memory) = (try daemon.settledDescriptors(), daemon.resident)
            var dice = Dice(state: UInt64(seed))
            var clients: [RawClient] = []
            for number in 0..<Self.messages {
                if clients.count < 8 { clients.append(try RawClient(daemon)) }
                let index = dice.roll(clients.count)
                let passed = dice.roll(20) == 0 ? Array(repeating: picture, count: 1 + dice.roll(3)) : []
                let bytes = message(&dice, methods)
                let isAlive = drain(clients[index]) && (try? clients[index].send(bytes, passed)) != nil
                if !isAlive || dice.roll(30) == 0 { clients.remove(at: index) }
                if number % 100 == 0 {
                    #expect(try good.call(Call.Status()).status.version == Release.version)
                    let job = try good.call(Call.Add(name: "good.png"), descriptors: [picture]).job
                    #expect(job.input == "good.png")
                    let cancelled = try good.call(Call.Cancel(ids: [job.id])).jobs
                    #expect(cancelled.map(\.id) == [job.id])
                    #expect(["cancelled", "done"].contains(cancelled.first?.state))
                }
            }
            clients = []
            _ = try good.call(Call.Resume())
            _ = try good.call(Call.CancelAll())
            _ = try good.call(Call.Concurrency(queue: "render", limit: "auto"))
            try await daemon.waitForAll()
            try daemon.expectDescriptors(before + 1)
            #expect(daemon.resident - memory < 50)
            #expect(try await daemon.pipectl("status").status == 0)
        }
    }
}
