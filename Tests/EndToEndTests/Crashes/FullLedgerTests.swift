import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("A full ledger disk", .enabled(if: Mount.isPermitted, "only root may mount a small file system"))
struct FullLedgerTests {
    /// Runs `body` on a daemon whose state lies on a disk of its own, with job 1 done, job 2 failed and job 3 queued.
    private func with(_ body: (DaemonFixture, Mount) async throws -> Void) async throws {
        try await DaemonFixture.with(started: false) { daemon in
            try await Mount.with(daemon.path("state"), size: "8m") { disk in
                try await daemon.start()
                try daemon.drop(as: "done.png")
                try await daemon.job("done.png", becomes: "done")
                try daemon.drop(Data("text".utf8), as: "failed.png")
                try await daemon.job("failed.png", becomes: "failed")
                try await daemon.waitForAll()
                _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
                try daemon.drop(as: "queued.png")
                try await daemon.job("queued.png", becomes: "queued")
                try await body(daemon, disk)
            }
        }
    }

    /// Returns when the daemon has noticed that the disk is full, or no longer full.
    private func noticed(_ daemon: DaemonFixture, isFull: Bool) async throws {
        while try daemon.status().problems.contains(where: { $0.contains("ledger can't be written") }) != isFull {
            await Look.again()
        }
    }

    private func pipectl(_ daemon: DaemonFixture, _ words: [String]) async throws -> (status: Int32, text: String) {
        let outcome = try await Programs.run("pipectl", ["--root", daemon.root.path] + words)
        return (outcome.status, outcome.output + outcome.errors)
    }

    @Test(
        "every verb fails at once, with reason and remedy, even before the daemon has noticed that the disk is full"
    )
    func verbs() async throws {
        try await with { daemon, disk in
            try daemon.write(Picture.small, to: "mine/more.png")
            let verbs = [
                ["cancel-all"], ["cancel", "3"], ["cancel", "--recipe", "noir"], ["priority", "3", "high"],
                ["depend", "3", "--after", "1"], ["retry", "2"], ["redo", "1"], ["undo", "1"], ["forget", "2"],
                ["add", "http://127.0.0.1:1/a.png"],
            ]
            for words in verbs {
                try disk.fill()
                for _ in 1...2 {
                    let (status, text) = try await pipectl(daemon, words)
                    #expect(status != 0, "\(words) \(text)")
                    #expect(text.contains("the ledger can't be written"), "\(words) \(text)")
                    #expect(text.contains("pipectl clean"), "\(words) \(text)")
                }
                try disk.free()
                try await noticed(daemon, isFull: false)
            }
            // On the full disk, the copy of the added file fails before the daemon tries to write the ledger.
            try disk.fill()
            let (status, text) = try await pipectl(daemon, ["add", daemon.path("mine/more.png")])
            #expect(status == 1 && text.contains("No space left"), "\(text)")
            try disk.free()
            try await noticed(daemon, isFull: false)
            let states = try daemon.list().map(\.state)
            #expect(states == ["done", "failed", "queued"])
            #expect(daemon.files(in: "state/spool") == [])
            #expect(daemon.files(in: "archive") == ["noir/done.png"])
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "auto"))
            try await daemon.job("queued.png", becomes: "done")
        }
    }

    @Test("a pause takes effect at once, says that it can't be recorded, and is recorded when there is room")
    func pause() async throws {
        try await with { daemon, disk in
            try disk.fill()
            let (status, text) = try await pipectl(daemon, ["pause", "render"])
            #expect(status == 1 && text.contains("the pause holds"), "\(text)")
            #expect(try daemon.status().queues["render"]?.paused == true)
            try disk.free()
            try await noticed(daemon, isFull: false)
            await daemon.stop()
            try await daemon.start()
            #expect(try daemon.status().queues["render"]?.paused == true)
        }
    }

    @Test("clean makes room with the help of the reserve, which is restored afterwards", arguments: [false, true])
    func clean(isKnown: Bool) async throws {
        try await with { daemon, disk in
            try await daemon.has("state/reserve")
            try disk.fill()
            if isKnown { #expect(try await pipectl(daemon, ["cancel-all"]).status == 1) }
            let (status, text) = try await pipectl(daemon, ["clean", "--archive", "--failed", "--yes"])
            #expect(status == 0, "\(text)")
            #expect(daemon.files(in: "archive") + daemon.files(in: "failed") == [])
            try disk.free()
            try await noticed(daemon, isFull: false)
            #expect(try await pipectl(daemon, ["clean", "--cancelled", "--yes"]).status == 0)
            #expect(daemon.exists("state/reserve"))
        }
    }

    @Test("a stop waits for no record that can't be made, and the next start repairs the state")
    func stop() async throws {
        try await with { daemon, disk in
            try disk.fill()
            #expect(try await pipectl(daemon, ["cancel-all"]).status == 1)
            #expect(await daemon.stop() == 0)
            #expect(daemon.log.contains("unrecorded changes are repaired at the next start"))
            try disk.free()
            try await daemon.start()
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == ["done", "failed", "done"])
        }
    }
}
