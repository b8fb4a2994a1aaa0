import Foundation
import PipelineControl
import TestTools
import Testing

@Suite("Retention")
struct KeepTests {
    private static func settings(_ rules: String) -> [String: String] {
        ["etc/pipelined.conf": "[Inbox]\nSettle=1ms\n[Keep]\n\(rules)\n", "state/id": "test\n"]
    }

    /// Leaves two done jobs and a failed one behind, and sets the times of all their files back by two days.
    private func leave(_ daemon: DaemonFixture) async throws {
        try daemon.drop(as: "album/a.png")
        try await daemon.waitForAll()
        try daemon.drop(as: "b.png")
        try daemon.drop(Data("no picture".utf8), as: "bad.png")
        try await daemon.waitForAll()
        try await daemon.ledger("UPDATE kept SET time = time - 172800")
    }

    @Test("everything is kept by default, and status shows its size and how full the disk is")
    func status() async throws {
        try await DaemonFixture.with { daemon in
            try await leave(daemon)
            let status = try daemon.status()
            #expect(
                status.kept.map { "\($0.place) \($0.rule) \($0.files)" } == [
                    "archive keep 2", "failed keep 1", "results keep 2",
                ])
            #expect(status.kept.prefix(2).map(\.bytes) == [2 * Picture.small.count, 10])
            let disk = try #require(status.disks.first)
            #expect(disk.path == daemon.root.path && disk.bytes > disk.free && disk.free >= 0)
            let page = try await daemon.pipectl("status")
            #expect(page.output.contains("kept: 2 archived ") && page.output.contains(" · 1 failed 10 B · 2 results "))
            #expect(daemon.files(in: "failed") == ["noir/bad.png", "noir/bad.png.error.txt"])
        }
    }

    @Test(
        "a disk that does not answer is left out of the status, and delays nobody",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"))
    func hanging() async throws {
        let files = ["etc/recipes.d/far.recipe": "[Recipe]\nInbox=far\n[Output]\nChain=save\n"]
        try await DaemonFixture.with(files) { daemon in
            let server = try HangingMount(daemon.path("outbox/far"))
            defer { server.end() }
            for _ in 0..<2 { #expect(try daemon.status().disks.map(\.path) == [daemon.root.path]) }
        }
    }

    @Test("old files are removed with a line in the log, show and retry say who removed them, and results stay")
    func age() async throws {
        try await DaemonFixture.with(Self.settings("")) { daemon in
            try await leave(daemon)
            try daemon.write("[Keep]\nArchive=1d\nFailed=36h 1G\n", to: "etc/pipelined.conf")
            #expect(try daemon.call(Call.Reload()).problems == [])
            try await daemon.says("Keep Archive=1d: removed 2 of archive, \(2 * Picture.small.count) bytes")
            try await daemon.says("Keep Failed=1d12h 1G: removed 1 of failed, 10 bytes")
            #expect(daemon.files(in: "archive") == [] && daemon.files(in: "failed") == [])
            #expect(!daemon.exists("archive/noir") && daemon.exists("archive"))
            #expect(daemon.files(in: "outbox") == ["noir/album/a.jpg", "noir/b.jpg"])
            let failed = try #require(try daemon.list(["failed"]).first)
            let story = try daemon.call(Call.Show(id: failed.id)).story
            #expect(story.removed?.hasPrefix("removed by Keep Failed=1d12h 1G on ") == true && story.original == nil)
            let retried = try await daemon.pipectl("retry", "\(failed.id)")
            #expect(retried.status == 1)
            #expect(
                retried.errors.contains("its original was removed by Keep Failed=1d12h 1G on "), "\(retried.errors)")
            #expect(try daemon.status().kept.map(\.files) == [0, 0, 2])
        }
    }

    @Test("beyond a size limit, the oldest file is removed as soon as another arrives")
    func size() async throws {
        let bytes = Picture.small.count
        // This limit is large enough for one picture, but not for two.
        let most = bytes / 1024 + 1
        try #require(2 * bytes > most * 1024)
        try await DaemonFixture.with(Self.settings("Archive=\(most)K")) { daemon in
            try daemon.drop(as: "a.png")
            try await daemon.waitForAll()
            try daemon.drop(as: "b.png")
            try await daemon.waitForAll()
            try await daemon.says("Keep Archive=\(most)K: removed 1 of archive")
            #expect(daemon.files(in: "archive") == ["noir/b.png"])
        }
    }

    @Test("old results are removed with the folders that become empty, but a result that a user has changed stays")
    func results() async throws {
        try await DaemonFixture.with(Self.settings("")) { daemon in
            try await leave(daemon)
            try daemon.write("changed", to: "outbox/noir/b.jpg")
            try daemon.write("[Keep]\nResults=1d\n", to: "etc/pipelined.conf")
            #expect(try daemon.call(Call.Reload()).problems == [])
            try await daemon.says("Keep Results=1d: removed 1 of results")
            #expect(daemon.files(in: "outbox") == ["noir/b.jpg"] && !daemon.exists("outbox/noir/album"))
            #expect(daemon.files(in: "archive") == ["noir/album/a.png", "noir/b.png"])
            while try daemon.status().kept.last?.files != 0 { await Look.again() }
            // Process the same picture again: `clean` counts only its latest result.
            try daemon.drop(as: "album/a.png")
            try await daemon.waitForAll()
            let reply = try daemon.call(Call.Clean(places: ["results"], trial: true))
            #expect(reply.cleaned.map(\.files) == [1])
        }
    }

    @Test(
        "a removal that is killed just before or after the file goes is finished by the next start", arguments: [1, 2])
    func killed(call: Int) async throws {
        try await DaemonFixture.with(Self.settings("")) { daemon in
            try await leave(daemon)
            await daemon.stop()
            try daemon.write("[Keep]\nArchive=1d\nFailed=1d\n", to: "etc/pipelined.conf")
            let path = daemon.path(["archive/noir/album/a.png", "archive/noir/b.png"][call - 1])
            try daemon.launch(under: FileCalls.wrapper([.kill("unlinkat", 1, on: path)]))
            #expect(await daemon.stop(0) == -SIGKILL)
            #expect(daemon.files(in: "archive").count == 3 - call)
            try await daemon.start()
            while !daemon.files(in: "archive").isEmpty || !daemon.files(in: "failed").isEmpty { await Look.again() }
            #expect(try daemon.list().map { $0.state }.sorted() == ["done", "done", "failed"])
            while try daemon.status().kept.contains(where: { $0.files > 0 && $0.place != "results" }) {
                await Look.again()
            }
            for job in try daemon.list() { #expect(try daemon.call(Call.Show(id: job.id)).story.removed != nil) }
        }
    }

    @Test(
        "clean removes exactly what its dry run counted, needs a terminal or --yes, and spares changed files")
    func clean() async throws {
        try await DaemonFixture.with { daemon in
            try await leave(daemon)
            try daemon.drop(as: "c.png")
            try await daemon.waitForAll()
            let asked = try await daemon.pipectl("clean", "--archive")
            #expect(asked.status == 2 && asked.errors.contains("use --yes, or --dry-run"))
            try daemon.write("changed", to: "archive/noir/b.png")
            let trial = try await daemon.pipectl("clean", "--archive", "--failed", "--older", "1d", "--dry-run")
            #expect(trial.lines.count == 2 && trial.lines[0].hasPrefix("archive: would remove 1 file, "), "\(trial)")
            #expect(daemon.files(in: "archive").count == 3)
            let cleaned = try await daemon.pipectl("clean", "--archive", "--failed", "--older", "1d", "--yes")
            #expect(cleaned.output == trial.output.replacing("would remove", with: "removed"))
            #expect(daemon.files(in: "archive") == ["noir/b.png", "noir/c.png"] && daemon.files(in: "failed") == [])
            let story = try daemon.call(Call.Show(id: 1)).story
            let (removed, said) = (story.removed ?? "", try daemon.call(Call.Log(id: 1)).events.last)
            #expect(removed.hasPrefix("removed by user \(NSUserName()), process "), "\(removed)")
            #expect(removed.contains(", with pipectl clean on "), "\(removed)")
            #expect(said?.kind == "removed" && removed.hasPrefix("\(said?.text?.dropFirst(9) ?? "") on "), "\(said)")
            let json = try await daemon.pipectl("clean", "--archive", "--to", "0", "--yes", "--json")
            #expect(json.output.contains("\"files\" : 1"), "\(json.output)")
            #expect(daemon.files(in: "archive") == ["noir/b.png"])
            for wrong in [
                ["--archive", "--to", "much"], ["--archive", "--older", "soon"], [], ["--archive", "--recipe", "x"],
            ] {
                let outcome = try await Programs.run("pipectl", ["--root", daemon.root.path, "clean", "--yes"] + wrong)
                #expect(outcome.status == 2, "\(wrong) \(outcome)")
            }
        }
    }

    @Test("forget removes the rows of jobs that are over; their files stay, and are no longer tracked")
    func forget() async throws {
        let files = ["etc/recipes.d/stay.recipe": "[Recipe]\nInbox=stay\nOriginal=keep\n[Output]\nChain=save\n"]
        try await DaemonFixture.with(files) { daemon in
            try await leave(daemon)
            try daemon.drop(as: "kept.png", inbox: "inbox/stay")
            try await daemon.waitForAll()
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.drop(as: "queued.png")
            try await daemon.job("queued.png", becomes: "queued")
            let ids = Dictionary(uniqueKeysWithValues: try daemon.list().map { ($0.input, $0.id) })
            let (queued, kept) = (try #require(ids["queued.png"]), try #require(ids["kept.png"]))
            let early = try await daemon.pipectl("forget", "\(queued)")
            #expect(early.status == 1 && early.errors.contains("not over"), "\(early)")
            let taken = try await daemon.pipectl("forget", "\(kept)")
            #expect(taken.status == 1 && taken.errors.contains("would be taken again"), "\(taken)")
            let one = try await daemon.pipectl("forget", "\(try #require(ids["bad.png"]))")
            #expect(one.output == "forgot 1 job; their files stay, and are no longer known\n", "\(one)")
            #expect(try await daemon.pipectl("forget", "--done", "--older", "1h").output == "nothing to forget\n")
            let done = try daemon.call(Call.Forget(ids: [], states: ["done"]))
            #expect(done.forgotten == 2 && done.left == 1)
            #expect(try daemon.list().map(\.id).sorted() == [queued, kept].sorted())
            let status = try daemon.status()
            #expect(
                status.kept.map { "\($0.place) \($0.files)" } == ["results 1"] && status.jobs.done == 1
                    && status.jobs.failed == 0)
            #expect(daemon.files(in: "archive").count == 2 && daemon.exists("failed/noir/bad.png"))
        }
    }

    @Test("the ledger's history forgets rows, but clean still knows the files")
    func history() async throws {
        try await DaemonFixture.with(Self.settings("")) { daemon in
            try await leave(daemon)
            try await daemon.ledger("UPDATE jobs SET finished = finished - 864000")
            try daemon.write("[Daemon]\nHistory=1d\n", to: "etc/pipelined.conf")
            _ = try daemon.call(Call.Reload())
            while try !daemon.list().isEmpty { await Look.again() }
            #expect(try daemon.status().kept.map(\.files) == [2, 1, 2])
            let reply = try daemon.call(Call.Clean(places: ["archive", "failed", "cancelled"]))
            #expect(reply.cleaned.map(\.files) == [2, 1, 0])
            #expect(daemon.files(in: "archive") == [])
        }
    }
}
