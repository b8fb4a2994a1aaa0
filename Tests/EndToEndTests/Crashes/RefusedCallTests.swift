import Foundation
import Glibc
import PipelineControl
import TestTools
import Testing

/// A kernel error that the daemon must survive. Calls of one kind fail on all paths where claiming, publishing and
/// disposal use such calls.
struct RefusedCall: CustomTestStringConvertible, Sendable {
    let call: String
    let error: String

    var testDescription: String { "\(call): \(error)" }
    var isOfRoom: Bool { error == "ENOSPC" || error == "EDQUOT" }

    /// Returns the change for the daemon's file calls. EINTR hits only every second call, because the daemon repeats
    /// interrupted calls.
    func change(on paths: [String]) -> FileCalls.Change {
        .fail(call, Self.errors.first { $0.key == error }?.value ?? 0, on: paths, step: error == "EINTR" ? 2 : 1)
    }

    private static let errors: KeyValuePairs = [
        "EIO": EIO, "ENOSPC": ENOSPC, "EDQUOT": EDQUOT, "EMFILE": EMFILE, "ENOMEM": ENOMEM, "EINTR": EINTR,
    ]

    /// Each call with each error. A short run takes every second error of each call.
    static let all = ["mkdir,mkdirat", "openat", "renameat2", "fsync"].enumerated().flatMap { row, call in
        errors.map(\.key).enumerated()
            .filter { Sweep.of(($0.offset + row).isMultiple(of: 2), all: true) }
            .map { RefusedCall(call: call, error: $0.element) }
    }
}

@Suite("Calls that the kernel refuses")
struct RefusedCallTests {
    private static let recipes = (1...9).map { "r\($0)" }

    /// The paths on which each call fails. The staging file of job 1, of the recipe `r1`, is `1-0.jpg`, and the staging
    /// file of job 2, of the recipe `r2`, is `2-0.jpg`.
    private static let paths = [
        "mkdir,mkdirat": ["inbox/r3/.pipelined", "outbox/r4", "archive/r5"],
        "openat": ["outbox/r1/.staging/test/1-0.jpg", "outbox/r3"],
        "renameat2": ["inbox/r3/.pipelined/test/0", "outbox/r4/r4.jpg", "archive/r5"],
        "fsync": ["outbox/r2/.staging/test/2-0.jpg", "outbox/r3/.staging/test", "outbox/r4", "archive/r5"],
    ]

    @Test(
        "the job waits or fails after a retry, with the reason; the original is safe, and the daemon works on",
        arguments: RefusedCall.all)
    func refused(_ refused: RefusedCall) async throws {
        try await DaemonFixture.with(Self.files) { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            await daemon.stop()
            let paths = (Self.paths[refused.call] ?? []).map(daemon.path)
            try await daemon.start(under: FileCalls.wrapper([refused.change(on: paths)]))
            for recipe in ["r1", "r2"] {
                try daemon.drop(as: "\(recipe).png", inbox: "inbox/\(recipe)")
                try await daemon.job("\(recipe).png", becomes: "queued")
            }
            _ = try daemon.call(Call.Resume())
            for recipe in Self.recipes.dropFirst(2) {
                try daemon.drop(as: "\(recipe).png", inbox: "inbox/\(recipe)")
            }
            if refused.error == "EINTR" {
                try await daemon.waitForAll()
                #expect(try daemon.list().map(\.state) == Array(repeating: "done", count: Self.recipes.count))
            } else {
                for path in Self.paths[refused.call] ?? [] { try await isMet(path, refused, daemon) }
            }
            for recipe in ["r6", "r7", "r8", "r9"] { try await daemon.job("\(recipe).png", becomes: "done") }

            // Without the faults, a new start finishes everything.
            await daemon.stop()
            try await daemon.start()
            _ = try daemon.call(Call.Retry(ids: [], states: ["failed"]))
            try await daemon.waitForAll()
            await daemon.stop()
            let accounts = try await Accounts(daemon)
            #expect(daemon.files(in: "archive") == Self.recipes.map { "\($0)/\($0).png" })
            #expect(daemon.files(in: "outbox") == Self.recipes.map { "\($0)/\($0).jpg" })
            #expect(daemon.files(in: "inbox") + daemon.files(in: "failed") + accounts.remains == [])
            #expect(accounts.jobs.count == Self.recipes.count && accounts.jobs.allSatisfy { $0.contains(" done 1 ") })
        }
    }

    private static let files = Dictionary(
        uniqueKeysWithValues: recipes.map {
            ("etc/recipes.d/\($0).recipe", "[Recipe]\nInbox=\($0)\n[Output]\nChain=save\n")
        }
    ).merging([
        "etc/pipelined.conf": "[Daemon]\nRetries=1\nRetryDelay=100ms\n[Queues]\nRender=1\n[Inbox]\nSettle=1ms\n",
        "state/id": "test\n",
    ]) { $1 }

    /// Waits until the fault on this path has shown its effect. The second component of the path names the picture.
    private func isMet(_ path: String, _ refused: RefusedCall, _ daemon: DaemonFixture) async throws {
        let parts = path.split(separator: "/")
        let picture = "\(parts[1]).png"
        switch parts[0] {
        case "inbox":
            #expect(daemon.exists("inbox/\(parts[1])/\(picture)"))
        case "archive":
            try await daemon.event {
                $0.job?.input == picture && $0.text?.contains("its original stays at") == true
            }
        default:
            let event = try await daemon.event {
                $0.kind == "job" && $0.job?.input == picture && $0.job?.state == "waiting"
            }
            let reason = event.job?.reason ?? ""
            // A job never fails because of a full disk. After any other transient fault, the daemon retries the job
            // once.
            guard !refused.isOfRoom else { return #expect(reason.contains("no space in"), "\(reason)") }
            #expect(reason.hasPrefix("retry at ") && reason.contains(" (1 of 1): "), "\(reason)")
            // The retry uses another staging file, to which the fault does not apply, so the job does not fail.
            guard !path.hasSuffix("-0.jpg") else { return }
            try await daemon.job(picture, becomes: "failed")
            let job = try #require(try daemon.list(["failed"]).first { $0.input == picture })
            #expect(job.error?.hasSuffix("; it was tried 2 times") == true && job.failure == "transient", "\(job)")
        }
    }

    @Test(
        "a brief failure to write the ledger costs no job",
        arguments: ["pwrite64", "fdatasync"], [EIO, ENOSPC])
    func ledger(call: String, error: Int32) async throws {
        try await DaemonFixture.with { daemon in
            await daemon.stop()
            try await daemon.start(
                under: FileCalls.wrapper([
                    .fail(call, error, on: [daemon.path(CrashPoint.ledger)], first: 2, step: 0)
                ]))
            for number in 1...4 { try daemon.drop(as: "\(number).png") }
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == Array(repeating: "done", count: 4))
            await daemon.stop()
            let accounts = try await Accounts(daemon)
            #expect(accounts.jobs.count == 4 && accounts.jobs.allSatisfy { $0.contains(" done 1 archive/noir/") })
        }
    }
}
