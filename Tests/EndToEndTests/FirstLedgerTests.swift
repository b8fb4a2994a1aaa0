import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("The ledger of the first version")
struct FirstLedgerTests {
    @Test("today's daemon starts on it, reports the same jobs, and finishes the pending work")
    func finished() async throws {
        try await DaemonFixture.with(FirstLedger.recipes, started: false) { daemon in
            try await FirstLedger.place(in: daemon)
            try await daemon.start()
            let before = try daemon.list()
            #expect(before.map(\.id) == Array(1...13))
            #expect(before.prefix(4).map(\.state) == ["done", "done", "done", "failed"])
            #expect(
                before[4...].map(\.state) == ["waiting", "waiting", "waiting", "cancelled"]
                    + Array(repeating: "waiting", count: 5))
            #expect(before[3].error == "this is no picture that pipelined reads (it looks like text)")
            #expect(before[8].batch == before[9].batch && before[8].batch != nil && before[10].batch == nil)
            #expect(before[0].after.map(\.width) == [8, 4] && before[0].before?.format == "png")
            let story = try daemon.call(Call.Show(id: 1)).story
            #expect(story.operations.map(\.state) == ["finished", "finished", "finished"] && story.tries == 1)
            let status = try daemon.status()
            #expect(status.queues["render"]?.reason == "the ledger of version 1 is made")
            #expect(status.queues["render"]?.paused == true)
            #expect(status.waiting.map(\.reason) == ["paused: the ledger of version 1 is made"])

            _ = try daemon.call(Call.Resume())
            try await daemon.waitForAll()
            let after = try daemon.list()
            #expect(after.filter { $0.state == "done" }.count == 11, "\(after)")
            #expect(after[3].state == "failed" && after[7].state == "cancelled")
            // Job 7 was running, which counts as an attempt.
            #expect(try daemon.call(Call.Show(id: 7)).story.tries == 2)
            await daemon.stop()
            #expect(
                daemon.files(in: "outbox") == [
                    "chain/three.webp", "crash/intended.jpg", "full/nowhere.jpg", "kept/later.png",
                    "kept/later.thumb.jpg", "noir/later.jpg", "noir/one.jpg", "noir/two.jpg", "slow/long.avif",
                ])
        }
    }

    @Test("a migration that is killed is completed by the next start", arguments: [1, 3, 8])
    func killed(count: Int) async throws {
        try await DaemonFixture.with(FirstLedger.recipes, started: false) { daemon in
            try await FirstLedger.place(in: daemon)
            let death = FileCalls.Change.kill("pwrite64", count, on: daemon.path(CrashPoint.ledger))
            #expect(try await daemon.isKilled(under: FileCalls.wrapper([death])))
            try await daemon.start()
            _ = try daemon.call(Call.Resume())
            try await daemon.waitForAll()
            #expect(try daemon.list().filter { $0.state == "done" }.count == 11)
        }
    }

    @Test("a ledger of a newer version is refused with a message, and left alone")
    func newer() async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try await FirstLedger.place(in: daemon)
            try await daemon.ledger("PRAGMA user_version=99")
            let before = try daemon.data("state/ledger.sqlite")
            let outcome = try await Programs.run("pipelined", ["--root", daemon.root.path])
            #expect(outcome.status == 1)
            #expect(
                outcome.errors.contains("it was written by a newer pipelined; this one knows versions up to 22"),
                "\(outcome.errors)")
            #expect(try daemon.data("state/ledger.sqlite") == before)
        }
    }
}
