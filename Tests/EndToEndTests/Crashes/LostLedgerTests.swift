import Foundation
import PipelineControl
import TestTools
import Testing

/// The damage to the ledger's files while the daemon is stopped.
enum LedgerHarm: String, CaseIterable, CustomTestStringConvertible {
    case removed, emptied, withoutHeader, withoutLog

    var testDescription: String { rawValue }

    func happen(to daemon: DaemonFixture) async throws {
        let ledger = daemon.root.appendingPathComponent("state/ledger.sqlite")
        switch self {
        case .removed:
            for suffix in ["", "-wal", "-shm"] { try FileManager.default.removeItem(atPath: ledger.path + suffix) }
        case .emptied: try Data().write(to: ledger)
        case .withoutHeader:
            // Without a checkpoint, the write-ahead log would still contain the header, from which SQLite would restore
            // it.
            try await daemon.ledger("PRAGMA wal_checkpoint(TRUNCATE)")
            var bytes = try Data(contentsOf: ledger)
            bytes[0] ^= 1
            try bytes.write(to: ledger)
        // No checkpoint has been made yet, so the write-ahead log contains all data.
        case .withoutLog: try Data().write(to: URL(fileURLWithPath: ledger.path + "-wal"))
        }
    }
}

@Suite("A ledger that is lost or damaged")
struct LostLedgerTests {
    @Test(
        "log, status and --check report it; added pictures go to recovered/, and claimed ones are taken in again",
        arguments: LedgerHarm.allCases)
    func lost(_ harm: LedgerHarm) async throws {
        try await DaemonFixture.with(["etc/pipelined.conf": "[Inbox]\nSettle=1ms\n"]) { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.write(Picture.small, to: "mine/added.png")
            let add = try await daemon.pipectl("add", daemon.path("mine/added.png"))
            #expect(add.status == 0, "\(add)")
            try daemon.drop(as: "dropped.png")
            try await daemon.job("dropped.png", becomes: "queued")
            await daemon.stop(SIGKILL)
            try await harm.happen(to: daemon)

            if harm == .removed || harm == .emptied {
                let check = try await Programs.run("pipelined", ["--root", daemon.root.path, "--check"])
                #expect(check.status == 1 && check.errors.contains("is missing or empty"), "\(check)")
            }
            try await daemon.start()
            let isDamaged = harm == .withoutHeader
            let words = isDamaged ? "the ledger is damaged: " : "is missing or empty, and a new one is begun"
            try await daemon.says(words)
            let problems = try daemon.status().problems
            #expect(problems.contains { $0.contains(words) }, "\(problems)")
            let check = try await daemon.pipectl("status", "--check")
            #expect(check.status != 0, "\(check)")
            #expect(try daemon.data("recovered/added/added.png") == Picture.small)
            // The queue is running again, because its pause was lost with the ledger.
            try await daemon.job("dropped.png", becomes: "done")
            try await daemon.waitForAll()
            #expect(daemon.files(in: "outbox") == ["noir/dropped.jpg"])
            let kept = daemon.files(in: "state").filter { $0.contains(".lost-") }
            #expect(kept.isEmpty == (harm == .removed || harm == .withoutLog), "\(kept)")

            // The loss is reported until somebody removes this note.
            try FileManager.default.removeItem(atPath: daemon.path("state/ledger-lost.txt"))
            await daemon.stop()
            try await daemon.start()
            #expect(try daemon.status().problems == [])
        }
    }

    @Test("a first start that is killed while it makes the ledger does not count as a loss")
    func first() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            let death = FileCalls.Change.kill("pwrite64", 3, on: daemon.path(CrashPoint.ledger))
            #expect(try await daemon.isKilled(under: FileCalls.wrapper([death])))
            try await daemon.start()
            let problems = try daemon.status().problems
            #expect(problems == [] && !daemon.exists("state/ledger-lost.txt"))
        }
    }
}
