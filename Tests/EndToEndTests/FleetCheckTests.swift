import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("A check of the fleet", .enabled(if: NATSServer.program != nil, "there is no NATS server here"))
struct FleetCheckTests {
    @Test("a check has another node render a picture, even if no node may lend, and leaves no job behind")
    func passed() async throws {
        try await FleetPair.with(lacking: true) { pair in
            try pair.a.write("[Fleet]\nGive=never\nAhead=0\n", to: "etc/pipelined.conf.d/give.conf")
            _ = try pair.a.call(Call.Reload())
            // `a` has no free slot, which must not affect the check.
            try await pair.fill()
            let outcome = try await pair.a.pipectl("fleet", "check")
            #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
            #expect(outcome.lines.last?.hasPrefix("b ") == true && outcome.lines.last?.hasSuffix("lacks extra") == true)
            let check = try #require(try pair.a.call(Call.CheckFleet(nodes: ["b"])).checks.first)
            #expect(check.node == "b" && check.outcome == "ok" && check.problem == nil)
            #expect(try #require(check.milliseconds) >= #require(check.accepted))
            #expect(try pair.a.list().count == 1 && pair.b.list().isEmpty)
            #expect(try pair.a.status().fleet?.lent == 0)
            let own = try await pair.a.pipectl("fleet", "check", "a,b")
            #expect(own.status == 2 && own.errors.contains("'a' is this machine"), "\(own.errors)")
        }
    }

    @Test("a check reports nodes without a free place, with another version or without an answer, and exits with 1")
    func problems() async throws {
        try await FleetPair.with { pair in
            for number in 1...2 { try pair.b.drop(as: "\(number).png", inbox: "inbox/home") }
            while try pair.b.status().jobs.running < 2 { await Look.again() }
            let old = try Stranger(at: pair.server)
            let saying = Task {
                while !Task.isCancelled {
                    try old.say(version: "0.0.1")
                    await Look.again()
                }
            }
            while try pair.a.node("old") == nil { await Look.again() }
            let outcome = try await pair.a.pipectl("fleet", "check")
            saying.cancel()
            _ = await saying.result
            #expect(outcome.status == 1)
            #expect(outcome.lines.contains { $0.hasPrefix("b: it had no free place within 10s") }, "\(outcome.output)")
            #expect(outcome.lines.contains { $0.hasPrefix("old: it has pipelined 0.0.1") }, "\(outcome.output)")
            let processes = try [pair.b.process] + Children.of(pair.b.process, named: "pipelined-fleet")
            _ = try pair.b.call(Call.CancelAll())
            while try pair.a.node("b")?.places == 0 { await Look.again() }
            for process in processes { kill(process, SIGSTOP) }
            let silent = try await pair.a.pipectl("fleet", "check", "b", "--json")
            #expect(silent.status == 1)
            let checks = try #require(try silent.document()["checks"] as? [[String: Any]])
            #expect(checks.map { $0["outcome"] as? String } == ["silent"])
            for process in processes.reversed() { kill(process, SIGCONT) }
        }
    }

    @Test("a check ends when its client disconnects, and its picture is taken back")
    func abandoned() async throws {
        try await FleetPair.with { pair in
            for number in 1...2 { try pair.b.drop(as: "\(number).png", inbox: "inbox/home") }
            while try pair.b.status().jobs.running < 2 { await Look.again() }
            do {
                let client = try RawClient(pair.a)
                try client.send(RawClient.call("CheckFleet", #"{"nodes":[]}"#))
                while try pair.lentByA != 1 { await Look.again() }
            }
            while try pair.lentByA != 0 { await Look.again() }
        }
    }

    @Test("a check fails without another node, and without a server")
    func alone() async throws {
        try await FleetPair.with { pair in
            await pair.server.kill()
            while try pair.a.status().fleet?.server != nil { await Look.again() }
            let lost = try await pair.a.pipectl("fleet", "check")
            #expect(lost.status == 1 && lost.errors.contains("fleet: "), "\(lost.errors)")
            await pair.b.stop()
            await pair.a.stop()
            try await pair.server.restart()
            try await pair.a.start()
            while try pair.a.status().fleet?.server == nil { await Look.again() }
            let alone = try await pair.a.pipectl("fleet", "check")
            #expect(alone.status == 1 && alone.errors.contains("no other machine has been heard of"), "\(alone.errors)")
        }
    }
}

extension FleetPair {
    /// The number of pictures that `a` lends, as reported to `b`.
    fileprivate var lentByA: Int? {
        get throws { try b.node("a")?.lent }
    }
}

extension DaemonFixture {
    /// Returns what this daemon reports about the other node called `name`; nil if the daemon has not heard from it.
    fileprivate func node(_ name: String) throws -> Control.Node? {
        try status().fleet?.nodes.first { $0.name == name }
    }
}

/// A simulated node called `old`, with another version.
private final class Stranger: Sendable {
    private let socket: Descriptor

    init(at server: NATSServer) throws {
        socket = try Loopback.connect(to: try #require(server.url.split(separator: ":").last.flatMap { Int($0) }))
        try write("CONNECT {\"verbose\":false,\"pedantic\":false}\r\n")
    }

    func say(version: String) throws {
        let text =
            #"{"token":"x","node":{"name":"old","version":"\#(version)","places":1,"taken":0,"lent":0,"filters":{}}}"#
        try write("PUB nodes.old \(text.utf8.count)\r\n\(text)\r\n")
    }

    private func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard Glibc.write(socket.number, bytes, bytes.count) == bytes.count else { throw SystemError("write", "NATS") }
    }
}
