import Foundation
import TestTools
import Testing

@Suite("Killed at each system call of claiming, publishing and disposal")
struct CrashSweepTests {
    @Test(
        "every picture is in exactly one place, its results are whole and there once, and the ledger agrees with the disk",
        arguments: CrashCase.all)
    func sweep(_ crash: CrashCase) async throws { try await interruptEverywhere(crash) }

    @Test(
        "the same when the archive lies on another file system",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"))
    func sweepAcross() async throws { try await interruptEverywhere(.archiveElsewhere) }

    private func interruptEverywhere(_ crash: CrashCase) async throws {
        let reference = try await record(crash)
        let points = CrashPoint.all(in: reference.calls, withLedger: Sweep.of(crash.sweepsLedger, all: true))
        #expect(points.count > 8)
        // A start has pauses, in which another has room.
        let lanes = 2
        let reached = try await withThrowingTaskGroup(of: Int.self) { group in
            for lane in 0..<lanes {
                let mine = stride(from: lane, to: points.count, by: lanes).map { points[$0] }
                group.addTask { try await interrupt(crash, at: mine, reference.accounts) }
            }
            return try await group.reduce(0, +)
        }
        print("\(crash.testDescription): killed at \(reached) of \(points.count) points")
    }

    /// Returns at how many of the points the daemon was killed.
    private func interrupt(_ crash: CrashCase, at points: [CrashPoint], _ expected: Accounts) async throws -> Int {
        var reached = 0
        for point in points {
            let (killed, accounts) = try await kill(crash, at: point)
            if killed { reached += 1 }
            #expect(accounts == expected, "killed at \(point)")
            // A thread does not write to the ledger equally often in each run.
            #expect(killed || point.path == CrashPoint.ledger, "\(point) was not reached")
        }
        return reached
    }

    private func record(_ crash: CrashCase) async throws -> (calls: [TracedCall], accounts: Accounts) {
        try await run(crash) { daemon in
            let trace = daemon.path("trace")
            try await daemon.start(under: Strace.recording(to: trace, injecting: crash.injecting))
            try await daemon.waitForAll()
            await daemon.stop()
            return (
                try TracedCall.read(trace, below: daemon.root.path),
                try await Accounts(daemon)
            )
        }
    }

    private func kill(_ crash: CrashCase, at point: CrashPoint) async throws -> (killed: Bool, accounts: Accounts) {
        try await run(crash) { daemon in
            let injected = ["\(point.call):signal=SIGKILL:when=\(point.count)"]
            let wrapper = Strace.injecting(crash.injecting + injected, into: [daemon.path(point.path)])
            let killed = try await daemon.isKilled(under: wrapper)
            if killed {
                try await daemon.start()
                try await daemon.waitForAll()
                await daemon.stop()
            }
            return (killed, try await Accounts(daemon))
        }
    }

    private func run<Result>(
        _ crash: CrashCase, _ body: (DaemonFixture) async throws -> Result
    ) async throws -> Result {
        var result: Result?
        let files = crash.files.merging([
            "etc/pipelined.conf": "[Queues]\nRender=1\n[Inbox]\nSettle=1ms\n",
            // The ID is the same in every run, since it is part of the staging files' paths.
            "state/id": "sweep\n",
        ]) { $1 }
        try await DaemonFixture.with(files) { daemon in
            // The sweep does not cover the making of the ledger.
            await daemon.stop()
            try crash.prepare(daemon)
            guard crash.archiveIsElsewhere else {
                result = try await body(daemon)
                return
            }
            result = try await Mount.with(daemon.path("archive"), size: "1m") { _ in try await body(daemon) }
        }
        return try #require(result)
    }
}
