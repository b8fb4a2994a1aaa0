import Foundation
import TestTools
import Testing
import WorkerProtocol

@testable import FleetWorker

@Suite("A command to another node", .enabled(if: NATSServer.program != nil, "PIPELINED_NATS_SERVER names no server"))
struct CommandTests {
    private static let report = NodeReport(
        cancelled: 3,
        queues: [
            .init(name: "render", configured: nil, effective: 2, running: 1, isPaused: true, reason: "the printer")
        ])

    private func withPair(_ body: (NATSServer, NodeProcess, NodeProcess) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let server = try await NATSServer(in: folder)
            let (a, b) = (try NodeProcess("a", [server.url]), try NodeProcess("b", [server.url]))
            for node in [a, b] { try node.connected() }
            try await body(server, a, b)
        }
    }

    @Test("a command is delivered once, though the sender repeats it until its report arrives")
    func once() async throws {
        try await withPair { _, a, b in
            try a.send(.command(7, .pause(queue: "render", reason: "the printer"), node: "b"))
            let first = try b.commanded()
            #expect(first.command == .pause(queue: "render", reason: "the printer") && first.node == "a")
            // A second command is answered while the first is still unanswered.
            try a.send(.command(8, .cancelAll, node: "b"))
            let second = try b.commanded()
            #expect(second.command == .cancelAll)
            try b.send(.obeyed(second.id, Self.report))
            #expect(try a.answer(to: 8) == Self.report)
            try b.send(.obeyed(first.id, NodeReport(error: "no")))
            #expect(try a.answer(to: 7) == NodeReport(error: "no"))
            try a.send(.command(9, .drain, node: "b"))
            // The next message is the third command, so neither of the first two was repeated.
            #expect(try b.commanded().command == .drain)
        }
    }

    @Test("a command may be a question; its answer arrives unchanged, up to the longest one")
    func question() async throws {
        try await withPair { _, a, b in
            let question = NodeCommand.ask(NodeQuestion(.list, parameters: #"{"limit":3}"#))
            try a.send(.command(1, question, node: "b"))
            let asked = try b.commanded()
            #expect(asked.command == question)
            // JSON escapes each of these characters, so this reply is the longest on the wire.
            let longest = NodeReport(reply: String(repeating: "\"", count: NodeReport.longestReply))
            try b.send(.obeyed(asked.id, longest))
            #expect(try a.answer(to: 1) == longest)
        }
    }

    @Test("when the server is lost during a command, the command is executed and its report arrives afterwards")
    func serverLost() async throws {
        try await withPair { server, a, b in
            try a.send(.command(1, .drain, node: "b"))
            let id = try b.commanded().id
            await server.kill()
            _ = try b.problem(with: "is lost")
            try b.send(.obeyed(id, Self.report))
            try await server.restart()
            #expect(try a.answer(to: 1) == Self.report)
        }
    }

    @Test("a command to a missing or stopped node gets no answer")
    func silent() async throws {
        try await withPair { _, a, b in
            try a.send(.command(1, .drain, node: "nobody"))
            #expect(try a.answer(to: 1) == nil)
            try b.stop()
            defer { kill(b.process, SIGCONT) }
            try a.send(.command(2, .drain, node: "b"))
            #expect(try a.answer(to: 2) == nil)
            try a.misses("b")
        }
    }

    @Test("malformed commands from a stranger are ignored")
    func stranger() async throws {
        try await withPair { server, a, b in
            let client = try PlainClient(server.url)
            let token = Token.made()
            for (subject, text) in [
                ("command.b.x", "{}"), ("command.b.x", "no JSON"),
                ("command.b.X", #"{"token":"\#(token)","command":{"cancelAll":{}}}"#),
                ("command.b.x", #"{"token":"short","command":{"cancelAll":{}}}"#),
                ("command.b.x", #"{"token":"\#(token)","command":{"burn":{}}}"#),
                (
                    "command.b.x",
                    #"{"token":"\#(token)","command":{"ask":{"_0":{"call":"CancelAll","parameters":"{}"}}}}"#
                ),
                (
                    "command.b.x",
                    #"{"token":"\#(token)","command":{"pause":{"reason":"\#(String(repeating: "x", count: 1001))"}}}"#
                ),
            ] {
                try client.publish(Array(text.utf8), to: subject, reply: "_INBOX.x.1")
            }
            // Reports go only to NATS inboxes, and `jobs.x` is not an inbox.
            try client.publish(
                Array(#"{"token":"\#(token)","command":{"cancelAll":{}}}"#.utf8), to: "command.b.x", reply: "jobs.x")
            try client.flush()
            try a.send(.command(1, .drain, node: "b"))
            #expect(try b.commanded().command == .drain)
        }
    }
}

extension NodeProcess {
    fileprivate func commanded() throws -> (id: Int, command: NodeCommand, node: String) {
        try wait(for: "a command") {
            if case .commanded(let id, let command, let node) = $0 { (id, command, node) } else { nil }
        }
    }

    fileprivate func answer(to id: Int) throws -> NodeReport? {
        try wait(for: "an answer to \(id)") { if case .answered(id, let report) = $0 { .some(report) } else { nil } }
    }
}
