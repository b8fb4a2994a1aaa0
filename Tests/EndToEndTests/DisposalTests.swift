import Foundation
import Glibc
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Originals and staging files")
struct DisposalTests {
    @Test("an original that can't be archived stays, the job says so, and it is archived as soon as possible")
    func stuck() async throws {
        try await DaemonFixture.with(["state/id": "test\n"]) { daemon in
            // A file occupies the path of the archive's folder.
            try daemon.write("in the way", to: "archive/noir")
            try daemon.drop(as: "one.png")
            try await daemon.event { $0.text?.contains("its original stays at") == true }
            let job = try #require(try daemon.list().first)
            #expect(job.state == "done")
            let place = daemon.path("inbox/.pipelined/test/0/one.png")
            #expect(job.reason?.contains("its original stays at \(place)") == true)
            #expect(try daemon.status().problems.first?.contains("its original stays") == true)
            try FileManager.default.removeItem(atPath: daemon.path("archive/noir"))
            try await daemon.event { $0.text?.contains("its original could be moved now") == true }
            #expect(daemon.files(in: "archive") == ["noir/one.png"])
            #expect(try daemon.list().map(\.reason) == [nil])
            #expect(try daemon.status().problems == [])
        }
    }

    @Test("a staging file whose removal hangs holds up no other job")
    func hangingStaging() async throws {
        let files = [
            "etc/recipes.d/noir.recipe": "[Recipe]\nConflict=replace\n[Output]\nChain=save\n", "state/id": "test\n",
            // A folder occupies the result's name. It can't be replaced, so the job fails.
            "outbox/noir/one.jpg/taken": "",
        ]
        try await DaemonFixture.with(files, started: false) { daemon in
            let staged = daemon.path("outbox/noir/.staging/test/1-0.jpg")
            let answer = daemon.path("answer")
            #expect(mkfifo(answer, 0o600) == 0)
            let hang = FileCalls.Change.hang("unlinkat", on: staged, until: answer)
            try await daemon.start(under: FileCalls.wrapper([hang]))
            try daemon.drop(as: "one.png")
            try await daemon.job("one.png", becomes: "failed")
            try await daemon.has("failed/noir/one.png")
            try daemon.drop(as: "two.png")
            try await daemon.job("two.png", becomes: "done")
            #expect(daemon.exists("outbox/noir/.staging/test/1-0.jpg"))
            _ = try Descriptor.open(answer, O_WRONLY)
            await daemon.stop()
            #expect(daemon.files(in: "outbox") == ["noir/one.jpg/taken", "noir/two.jpg"])
        }
    }

    @Test("two daemons may share an outbox: neither sweeps the other's staging files")
    func shared() async throws {
        try await DaemonFixture.with(started: false) { first in
            let recipe = "[Recipe]\nInbox=slow\nOutbox=\(first.path("shared"))\n[Output]\nChain=save format=avif\n"
            try first.write(recipe, to: "etc/recipes.d/slow.recipe")
            try await first.start()
            try first.drop(Picture.tiff(width: 1600, height: 1200), as: "long.tif", inbox: "inbox/slow")
            let id = try await first.job("long.tif", becomes: "running")
            try await DaemonFixture.with(["etc/recipes.d/slow.recipe": recipe]) { second in
                #expect(try first.list().map(\.state) == ["running"])
                try second.drop(as: "short.png", inbox: "inbox/slow")
                try await second.waitForAll()
            }
            #expect(try await first.wait([id]).map(\.state) == ["done"])
            #expect(first.files(in: "shared") == ["long.avif", "short.avif"])
        }
    }

    @Test("a file that was settling at cancel-all ends cancelled, even if a reload comes first")
    func cancelledOverReload() async throws {
        try await DaemonFixture.with(["etc/pipelined.conf": "[Inbox]\nSettle=1s\n"]) { daemon in
            try daemon.write(Picture.small, to: "inbox/new.png")
            #expect(try daemon.call(Call.CancelAll()).cancelled == 1)
            #expect(try daemon.call(Call.Reload()).problems == [])
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == ["cancelled"])
        }
    }

    @Test(
        "the original of an added picture stays as its recipe says, and can be processed again and undone",
        arguments: ["archive", "keep", "delete"])
    func added(policy: String) async throws {
        let recipe = "[Recipe]\nOriginal=\(policy)\n\n[Output]\nChain=noir\n"
        try await DaemonFixture.with(["etc/recipes.d/web.recipe": recipe]) { daemon in
            try daemon.write(Picture.small, to: "mine/album/a.png")
            let added = try await daemon.pipectl("add", daemon.path("mine/album"), "--recipe", "web", "--wait")
            #expect(added.status == 0, "\(added)")
            #expect(daemon.files(in: "archive") == (policy == "delete" ? [] : ["web/album/a.png"]))
            #expect(daemon.files(in: "state/spool") == [])
            #expect(try daemon.data("mine/album/a.png") == Picture.small)
            let redo = try await daemon.pipectl("redo", "1", "--wait")
            guard policy != "delete" else {
                #expect(redo.status == 1 && redo.output.contains("Original=delete"), "\(redo)")
                return
            }
            #expect(redo.status == 0, "\(redo)")
            #expect(try daemon.data("archive/web/album/a.png") == Picture.small)
            #expect(try await daemon.pipectl("undo", "1").status == 0)
            #expect(try daemon.data("cancelled/web/album/a.png") == Picture.small)
            #expect(!daemon.exists("outbox/web/album/a.jpg") && daemon.files(in: "archive") == [])
            #expect(try await daemon.pipectl("retry", "1").status == 0)
            try await daemon.waitForAll()
            #expect(daemon.files(in: "archive") == ["web/album/a.png"] && daemon.files(in: "state/spool") == [])
        }
    }

    @Test("a crash during the return of an added original does not lose it")
    func broughtBack() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.write("no picture", to: "bad.png")
            _ = try await daemon.pipectl("add", daemon.path("bad.png"), "--wait")
            await daemon.stop()
            #expect(daemon.files(in: "failed") == ["noir/bad.png", "noir/bad.png.error.txt"])
            // Recreate the state after a crash: the original was moved, but the move was not recorded yet.
            try FileManager.default.createDirectory(
                atPath: daemon.path("state/spool/retry-1"), withIntermediateDirectories: true)
            try FileManager.default.moveItem(
                atPath: daemon.path("failed/noir/bad.png"), toPath: daemon.path("state/spool/retry-1/bad.png"))
            try await daemon.start()
            #expect(daemon.files(in: "failed") == ["noir/bad.png", "noir/bad.png.error.txt"])
            #expect(daemon.files(in: "state/spool") == [])
        }
    }
}
