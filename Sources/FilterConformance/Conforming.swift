import Foundation
import Glibc
import PipelineModel
import SystemCalls

/// `check`: runs all checks, and prints a report.
enum Conforming {
    static func run(_ arguments: Arguments) throws -> Int32 {
        guard let plugin = arguments.words.first else { throw UsageError("check takes a plugin") }
        let assignments = Array(arguments.words.dropFirst())
        if let word = assignments.first(where: { !$0.contains("=") }) {
            throw UsageError("'\(word)' is not NAME=VALUE")
        }
        let first = try FilterProcess(plugin, arguments)
        let chain = try FilterChain(filter: first.filter, assignments: assignments).completed()
        _ = try chain.stages()
        let conformance = Conformance(plugin: plugin, arguments: arguments, chain: chain, process: first)
        var report = ConformanceReport(filter: first.filter.name, version: first.filter.version ?? "", file: plugin)
        if !arguments.json { say(heading(first.filter, plugin, first.missing)) }
        for check in Conformance.checks {
            let result = conformance.result(of: check)
            report.checks.append(result)
            if !arguments.json { say(result.line) }
            if conformance.hasHung {
                report.notRun = Conformance.checks.count - report.checks.count
                break
            }
        }
        print(arguments.json ? try report.json : "\n\(report.summary)")
        return report.passed ? EX_OK : EXIT_FAILURE
    }

    /// Flushes, so that the author sees each line at once, even through a pipe.
    private static func say(_ line: String) {
        print(line)
        fflush(nil)
    }

    private static func heading(_ filter: StageDescription, _ plugin: String, _ missing: [String]) -> String {
        let author = filter.author.map { ", by \($0)" } ?? ""
        let traits = filter.traits.map(\.rawValue).sorted().joined(separator: ", ")
        return """
            \(filter.name) \(filter.version ?? ""): \(filter.summary)
            \(plugin)\(author); traits: \(traits.isEmpty ? "none" : traits)
            \(missing.isEmpty ? "" : "confinement that this machine lacks: \(missing.joined(separator: ", "))\n")
            """
    }
}

struct ConformanceReport: Encodable {
    struct Result: Encodable {
        enum Outcome: String, Encodable {
            case passed, failed
            case leftOut = "left out"
        }

        var check: String
        var outcome: Outcome
        /// An observation if the check passed; otherwise a complaint, or the reason why the check does not apply.
        var note: String

        var line: String {
            let sign =
                switch outcome {
                case .passed: "✓"
                case .failed: "✗"
                case .leftOut: "–"
                }
            return "\(sign) \(check)\(String(repeating: " ", count: max(1, 26 - check.count)))\(note)"
        }
    }

    var filter: String
    var version: String
    var file: String
    var checks: [Result] = []
    /// Checks skipped because the filter hung.
    var notRun = 0

    private enum CodingKeys: String, CodingKey { case filter, version, file, checks, notRun, passed }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(filter, forKey: .filter)
        try container.encode(version, forKey: .version)
        try container.encode(file, forKey: .file)
        try container.encode(checks, forKey: .checks)
        try container.encode(notRun, forKey: .notRun)
        try container.encode(passed, forKey: .passed)
    }

    var passed: Bool { !checks.contains { $0.outcome == .failed } }

    var summary: String {
        let failed = checks.count { $0.outcome == .failed }
        return failed == 0
            ? "\(filter) conforms."
            : "\(filter) does not conform: \(failed) of \(checks.count) checks failed"
                + (notRun == 0 ? "." : ". It hangs, so \(notRun) more were not run.")
    }

    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}
