import Foundation
import PipelineControl
import TestTools
import Testing

/// Simulates a disk that fails for a while, by changing the ledger's tables from outside.
@Suite("A ledger that can't be read")
struct LedgerReadingTests {
    @Test("the failure is reported, affected jobs resume by themselves, and no client gets an empty list")
    func told() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.drop(as: "first.png")
            try await daemon.job("first.png", becomes: "done")
            try await daemon.waitForAll()
            // The test removes an index. Without it, the daemon can't find queued jobs, but can still insert new ones.
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.drop(as: "second.png")
            try await daemon.job("second.png", becomes: "queued")
            try await daemon.ledger("DROP INDEX jobs_to_render")
            _ = try daemon.call(Call.Resume(queue: "render"))
            try await daemon.says("can't read the ledger: no such index: jobs_to_render")
            #expect(
                try daemon.status().problems == [
                    "the ledger can't be read: no such index: jobs_to_render; reading is retried every second"
                ])
            // Queries that don't need the removed index still work.
            #expect(try daemon.list().map(\.state) == ["done", "queued"])
            try await daemon.ledger(
                """
                CREATE INDEX jobs_to_render ON jobs(priority DESC, position)
                    WHERE state = 'queued' AND (url IS NULL OR inode <> 0)
                """)
            try await daemon.job("second.png", becomes: "done")
            try await daemon.says("the ledger can be read again")
            try await daemon.waitForAll()
            #expect(try daemon.status().problems == [])

            try await daemon.ledger("ALTER TABLE orders RENAME TO away")
            for arguments in [["list"], ["show", "1"], ["list", "--json"]] {
                let outcome = try await Programs.run("pipectl", ["--root", daemon.root.path] + arguments)
                #expect(outcome.status == 1, "\(arguments)")
                #expect(outcome.errors.contains("the ledger can't be read: no such table: orders"), "\(outcome)")
            }
            try await daemon.ledger("ALTER TABLE away RENAME TO orders")
            #expect(try daemon.list().map(\.state) == ["done", "done"])
        }
    }
    @Test("clients that wait for all jobs do not wait for ever")
    func waiting() async throws {
        try await DaemonFixture.with { daemon in
            try await daemon.ledger("DROP INDEX jobs_undisposed")
            let words = ["--root", daemon.root.path, "wait"]
            async let waiting = Programs.run("pipectl", words)
            try await daemon.says("can't read the ledger: no such index: jobs_undisposed")
            try await daemon.ledger(
                """
                CREATE INDEX jobs_undisposed ON jobs(id)
                    WHERE disposed = 0 AND (state = 'done' OR state = 'failed' OR state = 'cancelled')
                """)
            #expect(try await waiting.status == 0)
        }
    }
}
