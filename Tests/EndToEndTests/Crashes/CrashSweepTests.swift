import Foundation
import TestTools
import Testing

@Suite("Killed at each system call of claiming, publishing and disposal")
struct CrashSweepTests {
    @Test(
        "every picture is in exactly one place, its results are whole and published once, and the ledger agrees",
        arguments: CrashCase.all)
    func sweep(_ crash: CrashCase) async throws { try await interruptEverywhere(crash) }

    @Test(
        "every picture is in exactly one place, even when the archive lies on another file system",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"))
    func sweepAcross() async throws { try await interruptEverywhere(.archiveElsewhere) }

    @Test(
        "a redo or undo takes effect as a whole or not at all, and repeating the command finishes it",
        arguments: CrashCase.again)
    func sweepAgain(_ crash: CrashCase) async throws {
        try await interruptEverywhere(crash) {
            Sweep.of($0.call.hasPrefix("rename") || $0.call.hasPrefix("link"), all: true)
        }
    }

    private func interruptEverywhere(
        _ crash: CrashCase, where isWanted: (CrashPoint) -> Bool = { _ in true }
    ) async throws {
        let files = crash.files.merging([
            "etc/pipelined.conf": "[Queues]\nRender=1\n[Inbox]\nSettle=1ms\n",
            // The ID must be the same in every run, because it is part of the staging files' paths.
            "state/id": "sweep\n",
        ]) { $1 }
        // The sweep does not cover the creation of the ledger and the folders: every run starts with a copy of them.
        try await DaemonFixture.with(files) { first in
            await first.stop()
            try await interruptEverywhere(crash, of: first, where: isWanted)
        }
    }

    private func interruptEverywhere(
        _ crash: CrashCase, of first: DaemonFixture, where isWanted: (CrashPoint) -> Bool
    ) async throws {
        let root = first.root
        let reference = try await record(crash, root)
        let wanted = CrashPoint.all(in: reference.calls, isWhole: Sweep.of(false, all: true), where: isWanted)
        #expect(wanted.count > (crash.command.isEmpty ? 5 : 2))
        let points = CrashPoints(wanted, onLedger: crash.callsOnLedger)
        // Run four daemons at once, because a daemon often waits during its start.
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { try await interrupt(crash, root, at: points, reference.before, reference.accounts) }
            }
            try await group.waitForAll()
        }
        print("\(crash.testDescription): killed at \(points.reached) points")
    }

    private func interrupt(
        _ crash: CrashCase, _ first: URL, at points: CrashPoints, _ before: Accounts?, _ expected: Accounts
    ) async throws {
        while let point = points.next() {
            let (killed, between, accounts) = try await kill(crash, first, at: point)
            #expect(between == before || between == expected, "killed at \(point), and started again")
            #expect(accounts == expected, "killed at \(point)")
            #expect(points.wasTried(point, killed: killed), "\(point) was not reached")
        }
    }

    private func record(
        _ crash: CrashCase, _ first: URL
    ) async throws -> (calls: [FileCall], before: Accounts?, accounts: Accounts) {
        try await run(crash, first) { daemon in
            let trace = daemon.path("trace")
            let before = crash.command.isEmpty ? nil : try await Accounts(daemon)
            try await daemon.start(under: FileCalls.wrapper(crash.changes, recordedIn: trace))
            try await crash.run(daemon)
            await daemon.stop()
            return (
                try FileCall.read(trace, below: daemon.root.path), before,
                try await Accounts(daemon)
            )
        }
    }

    /// Kills the daemon at `point` and restarts it. If the case has a command, repeats the command after the restart.
    /// `between` contains the accounts from just before the repetition, and `accounts` those at the end.
    private func kill(
        _ crash: CrashCase, _ first: URL, at point: CrashPoint
    ) async throws -> (killed: Bool, between: Accounts?, accounts: Accounts) {
        try await run(crash, first) { daemon in
            let death = FileCalls.Change.kill(point.call, point.count, on: daemon.path(point.path))
            let wrapper = try FileCalls.wrapper([death] + crash.changes)
            let killed = try await daemon.isKilled(under: wrapper) { try await crash.run(daemon) }
            var between: Accounts?
            if killed {
                try await daemon.start()
                try await daemon.waitForAll()
                if !crash.command.isEmpty {
                    await daemon.stop()
                    between = try await Accounts(daemon)
                    try await daemon.start()
                    try await crash.run(daemon)
                }
                await daemon.stop()
            }
            let accounts = try await Accounts(daemon)
            return (killed, killed ? between : crash.command.isEmpty ? nil : accounts, accounts)
        }
    }

    private func run<Result>(
        _ crash: CrashCase, _ first: URL, _ body: (DaemonFixture) async throws -> Result
    ) async throws -> Result {
        var result: Result?
        try await DaemonFixture.with(started: false) { daemon in
            try await daemon.copy(first)
            try await crash.prepare(daemon)
            guard crash.archiveIsElsewhere else {
                result = try await body(daemon)
                return
            }
            result = try await Mount.with(daemon.path("archive"), size: "1m") { _ in try await body(daemon) }
        }
        return try #require(result)
    }
}
