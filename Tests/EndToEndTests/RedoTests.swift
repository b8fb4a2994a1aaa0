import Foundation
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Done jobs are processed again")
struct RedoTests {
    private static let quick = ["etc/pipelined.conf": "[Daemon]\nMaxPixels=100K\n[Inbox]\nSettle=1ms\n"]

    private static func recipe(_ outputs: String, _ more: String = "") -> String {
        "[Recipe]\nInbox=web\n\(more)\n\(outputs)\n"
    }

    private static let before = "[Output]\nChain=resize scale=0.5 | save\n[Output small]\nChain=save format=png\n"
    private static let after = "[Output]\nChain=resize scale=0.25 | save\n[Output large]\nChain=save format=webp\n"

    /// Outputs with which every redo fails, because the result is too large.
    private static let tooLarge = "[Output]\nChain=resize scale=16 | save\n"

    /// Runs `body` with a daemon and done jobs, one for each path.
    private static func with(
        _ paths: [String] = ["album/a.png"], recipe more: String = "", under wrapper: [String] = [],
        _ body: (DaemonFixture) async throws -> Void
    ) async throws {
        let files = quick.merging(["etc/recipes.d/web.recipe": recipe(before, more)]) { $1 }
        try await DaemonFixture.with(files, started: false) { daemon in
            try await daemon.start(under: wrapper)
            for path in paths {
                try daemon.drop(as: path, inbox: "inbox/web")
                try await daemon.waitForAll()
            }
            try await body(daemon)
        }
    }

    /// Replaces the outputs of the recipe, and reloads.
    private static func change(_ daemon: DaemonFixture, _ outputs: String, _ more: String = "") async throws {
        try daemon.write(recipe(outputs, more), to: "etc/recipes.d/web.recipe")
        let reload = try await daemon.pipectl("reload")
        try #require(reload.status == 0, "\(reload)")
    }

    private static func width(_ daemon: DaemonFixture, _ path: String) throws -> Int? {
        Picture.jpegSize(try daemon.data(path))?.width
    }

    private static func job(_ daemon: DaemonFixture, _ id: Int = 1) throws -> Control.Job {
        try daemon.call(Call.Show(id: id)).story.job
    }

    /// Returns the results in the outbox. Excludes .staging, from which the daemon removes withdrawn results in the
    /// background.
    private static func results(_ daemon: DaemonFixture) -> [String] {
        daemon.files(in: "outbox/web").filter { !$0.hasPrefix(".staging/") }
    }

    /// Restarts the daemon; returns whether staging, claim folders and spool are empty.
    private static func isTidy(_ daemon: DaemonFixture) async throws -> Bool {
        await daemon.stop()
        try await daemon.start()
        return daemon.files(in: "outbox").allSatisfy { !$0.contains(".staging") }
            && daemon.files(in: "inbox").allSatisfy { !$0.contains(".pipelined/") }
            && daemon.files(in: "state/spool") == []
    }

    @Test("results are replaced, added and removed as the outputs have changed, and the job stays the same")
    func replaced() async throws {
        try await Self.with { daemon in
            let old = try FileSystem.status(daemon.path("outbox/web/album/a.jpg"))
            try await Self.change(daemon, Self.after)
            let redo = try await daemon.pipectl("redo", "1", "--wait")
            #expect(redo.status == 0 && redo.output.hasPrefix("processing 1 job again: #1\n"), "\(redo)")
            #expect(daemon.files(in: "outbox/web/album") == ["a.jpg", "a.large.webp"])
            #expect(try Self.width(daemon, "outbox/web/album/a.jpg") == 8)
            #expect(try FileSystem.status(daemon.path("outbox/web/album/a.jpg"))?.inode != old?.inode)
            #expect(daemon.files(in: "archive/web") == ["album/a.png"])
            let story = try daemon.call(Call.Show(id: 1)).story
            #expect(story.job.state == "done" && story.job.redo == nil && story.job.reason == nil && story.tries == 2)
            #expect(story.job.outputs == ["a.jpg", "a.large.webp"].map { daemon.path("outbox/web/album/\($0)") })
            #expect(story.job.after.map(\.format) == ["jpeg", "webp"])
            #expect(story.operations.filter { $0.queue == "publish" }.map(\.attempt) == [1, 2])
            #expect(try daemon.status().jobs.done == 1)
            // Redo once more, without a change of the recipe.
            #expect(try await daemon.pipectl("redo", "1", "--wait").status == 0)
            #expect(daemon.files(in: "outbox/web/album") == ["a.jpg", "a.large.webp"])
            #expect(try await Self.isTidy(daemon))
        }
    }

    @Test("jobs are chosen by ID, recipe and time, batch, place, or all; a dry run only counts")
    func chosen() async throws {
        try await Self.with(["a.png", "album/b.png", "album/c.png"]) { daemon in
            try await Self.change(daemon, Self.after)
            func asked(_ arguments: String...) async throws -> Call.Redo.Reply {
                let outcome = try await Programs.run(
                    "pipectl", ["--root", daemon.root.path, "redo", "--dry-run", "--json"] + arguments)
                return try JSONDecoder().decode(Call.Redo.Reply.self, from: Data(outcome.output.utf8))
            }
            #expect(try await asked("1", "3").jobs == [1, 3])
            #expect(try await asked("--recipe", "web", "--since", "1h").jobs == [1, 2, 3])
            #expect(try await asked("--recipe", "web", "--since", "2099-01-01").jobs == [])
            #expect(try await asked("--all").jobs == [1, 2, 3])
            #expect(try await asked(daemon.path("archive/web/album")).jobs == [2, 3])
            #expect(try await asked(daemon.path("archive/web/../web/a.png")).jobs == [1])
            #expect(try daemon.list().allSatisfy { $0.state == "done" && $0.redo == nil })
            // The daemon counts a file that belongs to no job, but does not redo it. The given path may lead through a
            // link.
            try daemon.write(Picture.small, to: "archive/web/album/old.png")
            try FileManager.default.createSymbolicLink(
                atPath: daemon.path("link"), withDestinationPath: daemon.path("archive/web"))
            let linked = try await asked(daemon.path("link/album"))
            #expect(linked.jobs == [2, 3] && linked.unknown == 1)
            let redo = try await daemon.pipectl("redo", daemon.path("archive/web/album"))
            #expect(redo.status == 0 && redo.output.contains("processing 2 jobs again: #2 #3\n1 file there"), "\(redo)")
            try await daemon.waitForAll()
            #expect(
                try Self.width(daemon, "outbox/web/a.jpg") == 16 && Self.width(daemon, "outbox/web/album/b.jpg") == 8)
            let nowhere = try await daemon.pipectl("redo", daemon.path("archvie"))
            #expect(nowhere.output.contains("no job that is done has its original at \(daemon.path("archvie"))"))
            for words in [
                ["redo"], ["redo", "1", "--all"], ["redo", "1", "--timeout", "1s"], ["undo", "1", "--batch", "1"],
            ] {
                #expect(try await Programs.run("pipectl", ["--root", daemon.root.path] + words).status == 2)
            }
            #expect(try await daemon.pipectl("redo", "99").status == 4)
        }
    }

    @Test("the downloads of a list are redone as a batch, without downloading again")
    func batch() async throws {
        let server = try HTTPServer { _, connection in try connection.reply(200, [:], Picture.small) }
        let files = Self.quick.merging([
            "etc/recipes.d/web.recipe": Self.recipe(Self.before),
            "etc/pipelined.conf": "[Inbox]\nSettle=1ms\n[Download]\nAllowPrivateHosts=127.0.0.1\n",
        ]) { $1 }
        try await DaemonFixture.with(files) { daemon in
            try daemon.drop(
                Data("\(server.url("/a.png"))\n\(server.url("/b.png"))\n".utf8), as: "album.urls", inbox: "inbox/web")
            try await daemon.waitForAll()
            try await Self.change(daemon, Self.after)
            let redo = try await daemon.pipectl("redo", "--batch", "1", "--wait")
            #expect(redo.status == 0 && redo.output.hasPrefix("processing 2 jobs again"), "\(redo)")
            #expect(
                try daemon.files(in: "outbox/web").filter { $0.hasSuffix(".jpg") }.map {
                    try Self.width(daemon, "outbox/web/\($0)")
                } == [8, 8])
            #expect(server.seen.requests.count == 2)
            let undo = try await daemon.pipectl("undo", "--batch", "1")
            #expect(undo.status == 0 && undo.output.hasPrefix("undone 2 jobs"), "\(undo)")
            #expect(daemon.files(in: "cancelled/web").count == 2 && Self.results(daemon) == [])
        }
    }

    @Test(
        "a result that a user has changed stays and the new one gets another name; a removed result is made again")
    func changed() async throws {
        try await Self.with { daemon in
            try await Self.change(daemon, Self.before.replacing("0.5", with: "0.25"))
            try daemon.write("mine", to: "outbox/web/album/a.jpg")
            try FileManager.default.removeItem(atPath: daemon.path("outbox/web/album/a.small.png"))
            let asked = try await daemon.pipectl("redo", "1", "--dry-run")
            #expect(asked.output.contains("1: somebody has changed a result"), "\(asked)")
            #expect(try await daemon.pipectl("redo", "1", "--wait").status == 0)
            #expect(try daemon.text("outbox/web/album/a.jpg") == "mine")
            #expect(daemon.files(in: "outbox/web/album") == ["a-1.jpg", "a.jpg", "a.small.png"])
            let job = try Self.job(daemon)
            #expect(job.outputs == ["a-1.jpg", "a.small.png"].map { daemon.path("outbox/web/album/\($0)") })
            #expect(
                job.reason == "left, because somebody may have changed it: \(daemon.path("outbox/web/album/a.jpg"))")
            // The name a-1.jpg now belongs to the job, so another redo keeps it.
            #expect(try await daemon.pipectl("redo", "1", "--wait").status == 0)
            #expect(daemon.files(in: "outbox/web/album") == ["a-1.jpg", "a.jpg", "a.small.png"])
        }
    }

    @Test("under Conflict=skip no new result appears beside a changed one, and Conflict=replace spares it, too")
    func policies() async throws {
        try await Self.with(recipe: "Conflict=skip") { daemon in
            try daemon.write("mine", to: "outbox/web/album/a.jpg")
            #expect(try await daemon.pipectl("redo", "1", "--wait").status == 0)
            #expect(try daemon.text("outbox/web/album/a.jpg") == "mine")
            #expect(daemon.files(in: "outbox/web/album") == ["a.jpg", "a.small.png"])
        }
        try await Self.with(recipe: "Conflict=replace") { daemon in
            try daemon.write("mine", to: "outbox/web/album/a.jpg")
            #expect(try await daemon.pipectl("redo", "1", "--wait").status == 0)
            #expect(try daemon.text("outbox/web/album/a.jpg") == "mine")
            #expect(daemon.files(in: "outbox/web/album") == ["a-1.jpg", "a.jpg", "a.small.png"])
        }
    }

    @Test(
        "the archive may lie on another disk", .enabled(if: Mount.isPermitted, "only root may mount a file system"))
    func across() async throws {
        let files = Self.quick.merging(["etc/recipes.d/web.recipe": Self.recipe(Self.before)]) { $1 }
        try await DaemonFixture.with(files) { daemon in
            try await Mount.with(daemon.path("archive"), size: "1m") { _ in
                try daemon.drop(as: "album/a.png", inbox: "inbox/web")
                try await daemon.waitForAll()
                try await Self.change(daemon, Self.after)
                #expect(try await daemon.pipectl("redo", "1", "--wait").status == 0)
                #expect(try Self.width(daemon, "outbox/web/album/a.jpg") == 8)
                #expect(daemon.files(in: "archive") == ["web/album/a.png"] && daemon.files(in: "inbox") == [])
            }
        }
    }

    @Test("results move to the recipe's new outbox")
    func otherOutbox() async throws {
        try await Self.with { daemon in
            try await Self.change(daemon, Self.after, "Outbox=\(daemon.path("elsewhere"))")
            #expect(try await daemon.pipectl("redo", "1", "--wait").status == 0)
            #expect(
                daemon.files(in: "outbox") == [] && daemon.files(in: "elsewhere/album") == ["a.jpg", "a.large.webp"])
            #expect(try await Self.isTidy(daemon))
        }
    }

    @Test("a redo that fails leaves results, original and state unchanged, and reports the failure")
    func failed() async throws {
        try await Self.with { daemon in
            let cursor = try daemon.status().cursor
            let old = try daemon.data("outbox/web/album/a.jpg")
            try await Self.change(daemon, Self.tooLarge)
            let redo = try await daemon.pipectl("redo", "1", "--wait")
            #expect(redo.status == 1 && redo.output.contains("more than MaxPixels="), "\(redo)")
            #expect(try daemon.data("outbox/web/album/a.jpg") == old)
            #expect(daemon.files(in: "outbox/web/album") == ["a.jpg", "a.small.png"])
            #expect(daemon.files(in: "archive/web") == ["album/a.png"] && daemon.files(in: "failed") == [])
            let story = try daemon.call(Call.Show(id: 1)).story
            #expect(story.job.state == "done" && story.job.redo == "failed" && story.job.outputs.count == 2)
            #expect(story.job.reason == "the earlier results are unchanged")
            #expect(story.job.after.count == 2 && story.chains[""] == "resize scale=0.5 | save")
            #expect(story.operations.last { $0.queue == "render" }?.state == "failed")
            let over = try await daemon.events(since: cursor) { $0.kind == "over" }
            #expect(!over.contains { $0.kind == "picture" } && over.last { $0.kind == "over" }?.job?.redo == "failed")
            #expect(try daemon.status().jobs.done == 1 && daemon.status().jobs.failed == 0)
            try await Self.change(daemon, Self.after)
            #expect(try await daemon.pipectl("redo", "1", "--wait").status == 0)
            #expect(try Self.job(daemon).redo == nil && Self.width(daemon, "outbox/web/album/a.jpg") == 8)
            #expect(try await Self.isTidy(daemon))
        }
    }

    @Test(
        "a redo that is cancelled, in the queue or before it publishes, changes nothing",
        arguments: ["render", "publish"])
    func cancelled(queue: String) async throws {
        try await Self.with { daemon in
            let old = try daemon.data("outbox/web/album/a.jpg")
            try await Self.change(daemon, Self.after)
            #expect(try await daemon.pipectl("pause", queue).status == 0)
            #expect(try await daemon.pipectl("redo", "1").status == 0)
            if queue == "publish" {
                try await daemon.event { $0.kind == "job" && $0.job?.id == 1 && $0.job?.state == "waiting" }
            }
            let underway = try Self.job(daemon)
            #expect(underway.redo == "underway" && underway.outputs.count == 2 && underway.error == nil)
            let again = try await daemon.pipectl("redo", "1")
            #expect(again.status == 1 && again.output.contains("it is being processed again already"), "\(again)")
            let cancel = try await daemon.pipectl("cancel", "1")
            #expect(cancel.status == 0, "\(cancel)")
            try await daemon.wait([1])
            let job = try Self.job(daemon)
            #expect(job.state == "done" && job.redo == "cancelled" && job.error == "its redo was cancelled")
            #expect(try daemon.data("outbox/web/album/a.jpg") == old)
            #expect(daemon.files(in: "archive/web") == ["album/a.png"])
            #expect(try daemon.status().jobs.done == 1)
            #expect(try await daemon.pipectl("resume", queue).status == 0)
            #expect(try await Self.isTidy(daemon))
        }
    }

    @Test(
        "jobs that can't be redone are counted, with the reason: deleted, gone, replaced, not done, no recipe"
    )
    func refused() async throws {
        try await Self.with(["a.png", "b.png", "c.png", "theirs.png"]) { daemon in
            try FileManager.default.removeItem(atPath: daemon.path("archive/web/b.png"))
            try FileManager.default.removeItem(atPath: daemon.path("archive/web/theirs.png"))
            try daemon.write(Picture.small, to: "archive/web/theirs.png")
            try await Self.change(daemon, Self.before, "Original=delete")
            try daemon.drop(as: "d.png", inbox: "inbox/web")
            try daemon.drop(Data("no picture".utf8), as: "e.png", inbox: "inbox/web")
            try await daemon.waitForAll()
            let ids = try daemon.list().map { "\($0.id)" }
            let outcome = try await Programs.run(
                "pipectl", ["--root", daemon.root.path, "redo", "--dry-run", "--json"] + ids)
            #expect(outcome.status == 1)
            let reply = try JSONDecoder().decode(Call.Redo.Reply.self, from: Data(outcome.output.utf8))
            #expect(reply.jobs == [1, 3])
            let reasons = reply.refused.map(\.reason).joined(separator: "\n")
            for word in [
                "Original=delete", "no longer in its place", "another file lies where", "but failed",
            ] {
                #expect(reasons.contains(word), "\(reasons)")
            }
            try FileManager.default.removeItem(atPath: daemon.path("etc/recipes.d/web.recipe"))
            #expect(try await daemon.pipectl("reload").status == 0)
            let gone = try await daemon.pipectl("redo", "--all")
            #expect(
                gone.status == 1 && gone.output.contains("2 can't be: there is no recipe 'web' any more (#1 #3)"),
                "\(gone)")
        }
    }

    @Test("an original that stays in its inbox is read from there, and is not taken again")
    func kept() async throws {
        try await Self.with(recipe: "Original=keep") { daemon in
            try await Self.change(daemon, Self.after, "Original=keep")
            #expect(try await daemon.pipectl("redo", "1", "--wait").status == 0)
            #expect(try Self.width(daemon, "outbox/web/album/a.jpg") == 8 && daemon.list().count == 1)
            #expect(daemon.exists("inbox/web/album/a.png"))
        }
    }

    @Test("without an exchange of files, a redo takes several renames with the same result")
    func withoutExchange() async throws {
        let wrapper = try FileCalls.wrapper([.fail("renameat2", EINVAL)])
        try await Self.with(under: wrapper) { daemon in
            try await Self.change(daemon, Self.after)
            #expect(try await daemon.pipectl("redo", "1", "--wait").status == 0)
            #expect(daemon.files(in: "outbox/web/album") == ["a.jpg", "a.large.webp"])
            #expect(try Self.width(daemon, "outbox/web/album/a.jpg") == 8)
            try await Self.change(daemon, Self.tooLarge)
            #expect(try await daemon.pipectl("redo", "1", "--wait").status == 1)
            #expect(daemon.files(in: "outbox/web/album") == ["a.jpg", "a.large.webp"])
        }
    }
}
