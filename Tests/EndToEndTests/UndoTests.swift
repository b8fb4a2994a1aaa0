import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Done jobs are undone")
struct UndoTests {
    private static func recipe(_ more: String = "") -> [String: String] {
        [
            "etc/pipelined.conf": "[Inbox]\nSettle=1ms\n",
            "etc/recipes.d/web.recipe":
                "[Recipe]\nInbox=web\n\(more)\n[Output]\nChain=save\n[Output small]\nChain=resize scale=0.5 | save\n",
        ]
    }

    /// Runs `body` with a daemon that has a done job.
    private static func with(_ more: String = "", _ body: (DaemonFixture) async throws -> Void) async throws {
        try await DaemonFixture.with(recipe(more)) { daemon in
            try daemon.drop(as: "album/a.png", inbox: "inbox/web")
            try await daemon.waitForAll()
            try await body(daemon)
        }
    }

    /// Returns the results in the outbox. Excludes .staging, from which the daemon removes withdrawn results in the
    /// background.
    private static func results(_ daemon: DaemonFixture) -> [String] {
        daemon.files(in: "outbox/web").filter { !$0.hasPrefix(".staging/") }
    }

    private static func job(_ daemon: DaemonFixture) throws -> Control.Job {
        try daemon.call(Call.Show(id: 1)).story.job
    }

    @Test("an undo removes the results, the original goes to cancelled/, and `retry` makes the results again")
    func archived() async throws {
        try await Self.with { daemon in
            let asked = try await daemon.pipectl("undo", "1", "--dry-run")
            #expect(asked.status == 0 && asked.output == "1 job would be undone\n", "\(asked)")
            #expect(try Self.job(daemon).state == "done")
            let undo = try await daemon.pipectl("undo", "1")
            #expect(undo.status == 0 && undo.output == "undone 1 job: #1\n", "\(undo)")
            #expect(Self.results(daemon) == [] && daemon.files(in: "archive") == [])
            #expect(daemon.exists("outbox/web") && !daemon.exists("outbox/web/album") && !daemon.exists("archive/web"))
            #expect(daemon.files(in: "cancelled/web") == ["album/a.png"])
            let job = try Self.job(daemon)
            #expect(job.state == "cancelled" && job.reason == "undone" && job.outputs == [] && job.after == [])
            #expect(job.finished != nil && job.milliseconds == nil)
            let operations = try daemon.call(Call.Show(id: 1)).story.operations
            #expect(operations.map(\.kind) == ["render", "publish", "announce"])
            #expect(operations.allSatisfy { $0.state == "finished" })
            #expect(try daemon.status().jobs.cancelled == 1 && daemon.status().jobs.done == 0)
            let again = try await daemon.pipectl("undo", "1")
            #expect(again.status == 1 && again.output.contains("not done, but cancelled"), "\(again)")
            #expect(try await daemon.pipectl("retry", "1").status == 0)
            try await daemon.waitForAll()
            #expect(!daemon.exists("cancelled/web"))
            #expect(daemon.files(in: "outbox/web/album") == ["a.jpg", "a.small.jpg"])
            #expect(daemon.files(in: "archive/web") == ["album/a.png"] && daemon.files(in: "cancelled") == [])
        }
    }

    @Test("a result that a user has changed stays, with a message")
    func changed() async throws {
        try await Self.with { daemon in
            try daemon.write("mine", to: "outbox/web/album/a.jpg")
            let undo = try await daemon.pipectl("undo", "1")
            #expect(undo.status == 0 && undo.output.contains("1: somebody has changed a result"), "\(undo)")
            #expect(daemon.files(in: "outbox/web/album") == ["a.jpg"])
            #expect(try daemon.text("outbox/web/album/a.jpg") == "mine")
            #expect(
                try Self.job(daemon).reason?.hasPrefix("undone; left, because somebody may have changed it: ") == true)
        }
    }

    @Test("nothing is undone when the original was deleted, lost or replaced")
    func refused() async throws {
        try await Self.with("Original=delete") { daemon in
            let undo = try await daemon.pipectl("undo", "1")
            #expect(undo.status == 1 && undo.output.contains("Original=delete"), "\(undo)")
            #expect(daemon.files(in: "outbox/web/album").count == 2)
        }
        try await Self.with { daemon in
            try daemon.write("another", to: "archive/web/album/b.png")
            try FileManager.default.removeItem(atPath: daemon.path("archive/web/album/a.png"))
            let gone = try await daemon.pipectl("undo", "1")
            #expect(gone.status == 1 && gone.output.contains("no longer in its place"), "\(gone)")
            try FileManager.default.moveItem(
                atPath: daemon.path("archive/web/album/b.png"), toPath: daemon.path("archive/web/album/a.png"))
            let other = try await daemon.pipectl("undo", "1")
            #expect(other.status == 1 && other.output.contains("another file lies where"), "\(other)")
            // Simulate a file system that reuses the inode number of a removed file.
            let file = try Descriptor.open(daemon.path("archive/web/album/a.png"), O_WRONLY)
            try await daemon.ledger("UPDATE jobs SET inode = \(file.status().st_ino)")
            let reused = try await daemon.pipectl("undo", "1")
            #expect(reused.status == 1 && reused.output.contains("another file lies where"), "\(reused)")
            #expect(daemon.files(in: "outbox/web/album").count == 2)
        }
    }

    @Test("an original that was kept stays in its inbox, and is not taken again")
    func kept() async throws {
        try await Self.with("Original=keep") { daemon in
            #expect(try await daemon.pipectl("undo", "--recipe", "web").status == 0)
            #expect(Self.results(daemon) == [] && daemon.exists("inbox/web/album/a.png"))
            await daemon.stop()
            try await daemon.start()
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == ["cancelled"])
        }
    }

    @Test(
        "--to refuses folders that the daemon uses, can't see or can't write, or that hold a program's settings"
    )
    func elsewhere() async throws {
        try await Self.with { daemon in
            try FileSystem.makeFolders(daemon.path(".config/autostart"))
            try FileManager.default.createSymbolicLink(
                atPath: daemon.path("link"), withDestinationPath: daemon.path("etc/recipes.d"))
            let refused = [
                "archive", "archive/web", "inbox/web", "outbox", "state", "nowhere", "", "etc", "etc/recipes.d",
                "plugins",
                "link", ".config/autostart", "/etc", "/dev", "/usr/share", "/",
            ]
            for folder in refused.map({ FileSystem.join(daemon.root.path, $0) }) {
                let undo = try await daemon.pipectl("undo", "1", "--to", folder)
                #expect(undo.status == 2 && undo.errors.contains(folder), "\(undo)")
            }
            let kernel = try await daemon.pipectl("undo", "1", "--to", "/proc")
            #expect(kernel.status == 2 && kernel.errors.contains("which takes no files"), "\(kernel)")
            #expect(try Self.job(daemon).state == "done")
            try FileManager.default.createDirectory(atPath: daemon.path("again"), withIntermediateDirectories: true)
            let undo = try await daemon.pipectl("undo", "1", "--to", daemon.path("again"))
            #expect(undo.status == 0, "\(undo)")
            #expect(daemon.files(in: "again") == ["album/a.png"] && daemon.files(in: "cancelled") == [])
            #expect(try await daemon.pipectl("retry", "1").status == 0)
            try await daemon.waitForAll()
            #expect(daemon.files(in: "again") == [] && daemon.files(in: "archive/web") == ["album/a.png"])
            // The --to of the earlier undo no longer applies.
            #expect(try await daemon.pipectl("undo", "1").status == 0)
            #expect(daemon.files(in: "cancelled/web") == ["album/a.png"])
        }
    }

    @Test(
        "--to may lead to another file system", .enabled(if: Mount.isPermitted, "only root may mount a file system"))
    func across() async throws {
        try await Self.with { daemon in
            try await Mount.with(daemon.path("disk"), size: "1m") { _ in
                #expect(try await daemon.pipectl("undo", "1", "--to", daemon.path("disk")).status == 0)
                #expect(try daemon.data("disk/album/a.png") == Picture.small)
                #expect(daemon.files(in: "archive") == [] && Self.results(daemon) == [])
                #expect(try await daemon.pipectl("retry", "1").status == 0)
                try await daemon.waitForAll()
                #expect(daemon.files(in: "disk") == [] && daemon.files(in: "outbox/web/album").count == 2)
            }
        }
    }

    @Test("results of an older version have no identity, so they are neither taken back nor replaced")
    func older() async throws {
        try await Self.with { daemon in
            await daemon.stop()
            try await daemon.ledger("UPDATE jobs SET outputs = json_array(json_extract(outputs, '$[0].path'))")
            try await daemon.start()
            let undo = try await daemon.pipectl("undo", "1")
            #expect(undo.status == 1 && undo.output.contains("an older version published"), "\(undo)")
            let old = try daemon.data("outbox/web/album/a.jpg")
            #expect(try await daemon.pipectl("redo", "1", "--wait").status == 0)
            // The older version's row listed only one result. The second result, a.small.jpg, belongs to no job, so it
            // keeps its name.
            #expect(daemon.files(in: "outbox/web/album") == ["a-1.jpg", "a.jpg", "a.small-1.jpg", "a.small.jpg"])
            #expect(try daemon.data("outbox/web/album/a.jpg") == old)
        }
    }
}
