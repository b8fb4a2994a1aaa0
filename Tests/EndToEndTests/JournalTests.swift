import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("The log under systemd")
struct JournalTests {
    /// Returns the journal entries as libsystemd sends them: one `NAME=value` per line, unless a value contains line
    /// breaks.
    private static func entries(_ journal: DatagramSocket) -> [[String: String]] {
        journal.messages.map { message in
            let fields = message.split(separator: "\n").compactMap { line -> (String, String)? in
                let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
            }
            return Dictionary(fields, uniquingKeysWith: { first, _ in first })
        }
    }

    @Test(
        "the journal gets fields that find every message of a job, at Log=jobs and at Log=operations",
        .enabled(if: Mount.isPermitted, "only root may put a socket in the journal's place"),
        arguments: [("jobs", false), ("operations", true)])
    func fields(detail: String, isSteps: Bool) async throws {
        try await DaemonFixture.with(["etc/pipelined.conf": "[Daemon]\nLog=\(detail)\n"], started: false) { daemon in
            let journal = try DatagramSocket(daemon.path("journal/socket"))
            try daemon.launch(under: ServiceEnvironment.journal(in: daemon.path("journal")))
            try await journal.until("is ready")
            try daemon.drop(as: "sunset.png")
            try await journal.until("outbox/noir/sunset.jpg")
            try daemon.drop(Data("no picture".utf8), as: "broken.png")
            try await journal.until("broken.png failed")
            await daemon.stop()
            #expect(daemon.log == "")

            let entries = Self.entries(journal)
            #expect(entries.allSatisfy { $0["SYSLOG_IDENTIFIER"] == "pipelined" })
            let first = entries.filter { $0["JOB"] == "1" }
            #expect(first.allSatisfy { $0["INPUT"] == "sunset.png" && $0["RECIPE"] == "noir" && $0["PRIORITY"] == "6" })
            #expect(first.contains { $0["MESSAGE"]?.contains("outbox/noir/sunset.jpg") == true })
            let steps = ["render job 1: executing", "render job 1: finished", "publish job 1: finished"]
            for step in steps { #expect(first.contains { $0["MESSAGE"] == step } == isSteps, "\(step)") }
            let failure = try #require(entries.first { $0["MESSAGE"]?.contains("broken.png failed") == true })
            #expect(failure["JOB"] == "2")
            #expect(failure["STAGE"] == "open")
            #expect(failure["PRIORITY"] == "3")
        }
    }

    @Test(
        "when only standard error reaches the journal, lines start with their priority, and have no time",
        .enabled(if: Mount.isPermitted, "only root may hide the journal's socket"))
    func prefixed() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try await daemon.start(under: ServiceEnvironment.journal(in: nil))
            try daemon.drop(Data("no picture".utf8), as: "broken.png")
            try await daemon.says("broken.png failed")
            let lines = daemon.log.split(separator: "\n")
            #expect(lines.first?.hasPrefix("<6>pipelined ") == true, "\(daemon.log)")
            #expect(lines.last?.hasPrefix("<3>noir: broken.png failed") == true, "\(daemon.log)")
        }
    }

    @Test("a standard error that is not the journal's gets plain lines, whatever the inherited environment says")
    func foreignStream() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try await daemon.start(under: ServiceEnvironment.variables(["JOURNAL_STREAM": "1:1"]))
            #expect(daemon.log.firstMatch(of: #/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d pipelined /#) != nil, "\(daemon.log)")
        }
    }
}
