import Foundation
import PipelineControl
import SystemCalls
import TestTools
import Testing

@testable import pipectl

/// Checks that pipectl exits with a documented code, whatever the daemon replies, and that no reply can control the
/// terminal.
struct HostileDaemonTests {
    private static let described = InterfaceDescription(ControlInterface.control.description)

    /// One extreme value for each scalar type.
    struct Extreme: Sendable, CustomTestStringConvertible {
        var int: Int
        var float: Double
        var string: String
        var count: Int
        var isNull = false

        var testDescription: String { "\(int), \(float), \(count) elements" }

        func value(_ type: String) throws -> Any {
            if type.hasPrefix("?") { return isNull ? NSNull() : try value(String(type.dropFirst())) }
            if type.hasPrefix("[]") {
                return try (0..<count).map { _ in try value(String(type.dropFirst(2))) }
            }
            if type.hasPrefix("[string]") {
                let keys = (0..<count).map { "\(string)\($0)" }
                return try Dictionary(uniqueKeysWithValues: keys.map { ($0, try value(String(type.dropFirst(8)))) })
            }
            switch type {
            case "int": return int
            case "float": return float
            case "bool": return int > 0
            case "string": return string
            default: return try object(try #require(described.types[type], "\(type)"))
            }
        }

        func object(_ fields: InterfaceDescription.Fields) throws -> [String: Any] {
            try fields.mapValues { try value($0) }
        }
    }

    private static let extremes = [
        Extreme(int: .max, float: 1e308, string: "\u{1b}[2J\u{9b}31m\u{202e}\n", count: 3),
        Extreme(int: .min, float: -1e308, string: "2026-03-01T09:30:00.250Z", count: 2),
        Extreme(int: 0, float: 0, string: "", count: 0, isNull: true),
        Extreme(int: -1, float: 1e-300, string: String(repeating: "写", count: 10_000), count: 1),
        Extreme(int: 1, float: -0.0, string: "9999-12-31T23:59:59Z", count: 2),
    ]

    private static let commands = [
        ["status"], ["list"], ["list", "--long"], ["show", "1"], ["explain", "a"], ["explain", "noir | noir"],
        ["add", #filePath], ["add", #filePath, "--wait"], ["wait"], ["watch"], ["watch", "--until-idle"],
        ["watch", "--batch", "1"], ["watch", "--since", "0"], ["cancel", "1"],
        ["cancel-all"], ["retry", "1"], ["pause"], ["resume"], ["drain"], ["drain", "--fleet"],
        ["concurrency"], ["recipes"], ["plugins"],
        ["plugins", "noir"], ["settings"], ["fleet"], ["reload"], ["version"],
    ]

    private func daemon(_ answer: @escaping CannedDaemon.Answer) throws -> CannedDaemon {
        let daemon = try CannedDaemon()
        for method in Self.described.methods.keys { daemon.onAny(method, answer) }
        return daemon
    }

    /// Runs each command with text output and with JSON output, and calls `check` with the outcome.
    private func expectEnd(
        of commands: [[String]] = commands, at daemon: CannedDaemon, _ check: (Outcome, [String]) throws -> Void
    ) async throws {
        for words in commands {
            for words in [words, words + ["--json"]] {
                let outcome = try await Pipectl.run(words, at: daemon)
                #expect(
                    ExitCode(rawValue: outcome.status) != nil,
                    "\(words): \(outcome.status) \(outcome.errors.suffix(500))")
                let text = outcome.output + outcome.errors
                let driving = text.unicodeScalars.filter { $0.drivesTerminals && $0 != "\n" }
                #expect(driving.isEmpty, "\(words): \(driving.prefix(5).map(\.value))")
                try check(outcome, words)
            }
        }
    }

    @Test("Absurd numbers, texts that control terminals, and empty and long lists do no harm", arguments: extremes)
    func unheardOf(extreme: Extreme) async throws {
        let daemon = try CannedDaemon()
        for (method, types) in Self.described.methods {
            let reply = ["parameters": try extreme.object(types.reply)]
            let bytes = try Array(JSONSerialization.data(withJSONObject: reply)) + [0]
            daemon.onAny(method) { _, conversation in
                try conversation.send(bytes)
                if method == "Watch" { conversation.hangUp() }
            }
        }
        try await expectEnd(at: daemon) { _, _ in }
    }

    @Test(
        "An invalid answer is reported as not understood",
        arguments: [
            "hello\0", "\0", "null\0", "[]\0", "{}\0", #"{"parameters":5}"# + "\0", #"{"error":5}"# + "\0",
            #"{"parameters":{"jobs":[{"id":"\#(String(repeating: "x", count: 100_000))"}]}}"# + "\0",
            String(repeating: "[", count: 100_000) + "\0", #"{"parameters":{"status":\#u{1b}[2J}}"# + "\0",
        ])
    func nonsense(answer: String) async throws {
        let daemon = try daemon { _, conversation in try conversation.send(Array(answer.utf8)) }
        try await expectEnd(of: [["status"], ["list"], ["wait"], ["cancel", "1"]], at: daemon) { outcome, words in
            #expect(outcome.status == 1, "\(words)")
            #expect(outcome.errors.contains("is not understood") || outcome.errors.contains("BadAnswer"), "\(words)")
            #expect(outcome.errors.utf8.count < 2000)
        }
    }

    @Test(
        "A daemon that disappears before or during an answer is reported",
        arguments: ["", #"{"parameters":{"jobs":["#])
    func goesAway(part: String) async throws {
        let daemon = try daemon { _, conversation in
            if !part.isEmpty { try conversation.send(Array(part.utf8)) }
            conversation.hangUp()
        }
        try await expectEnd(at: daemon) { outcome, words in
            #expect(outcome.status == 3 || words[0] == "version" || words[0] == "add", "\(words): \(outcome.errors)")
        }
    }

    @Test("An endless answer is not buffered for ever")
    func endless() async throws {
        let daemon = try daemon { _, conversation in
            let piece = [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000)
            while true { try conversation.send(piece) }
        }
        let outcome = try await Pipectl.run("status", at: daemon)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("an answer that does not end"))
    }

    @Test("An unknown error is shown by its name, on one line")
    func unknownError() async throws {
        let daemon = try daemon { _, conversation in
            let error = #"{"error":"org.x\u001b[2J.Y\nfake","parameters":{"message":"a\nb","id":"seven"}}"#
            try conversation.send(Array(error.utf8) + [0])
        }
        let outcome = try await Pipectl.run("status", at: daemon)
        #expect(outcome.status == 1)
        #expect(outcome.errors.split(separator: "\n").count == 1)
    }
}
