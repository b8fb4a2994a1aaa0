import Foundation
import PipelineControl
import SystemCalls
import TestTools
import Testing

@Suite("Cancelling")
struct CancelTests {
    /// A recipe whose encoder keeps working for a while after it has read the last row. Meanwhile, the encoder does not
    /// check for a cancellation.
    private static let slow = """
        [Recipe]
        Inbox=slow
        [Output]
        Chain=FIRST | save format=FORMAT
        """

    private static func recipe(_ format: String, _ first: String = "resize scale=1") -> String {
        slow.replacingOccurrences(of: "FORMAT", with: format).replacingOccurrences(of: "FIRST", with: first)
    }

    @Test("a queued job is cancelled at once, and its original goes to cancelled/")
    func queued() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Pause(queue: "render", reason: "for the test"))
            try daemon.drop(as: "one.png")
            try daemon.drop(as: "two.png")
            let id = try await daemon.job("one.png", becomes: "queued")
            try await daemon.job("two.png", becomes: "queued")
            let cancelled = try daemon.call(Call.Cancel(ids: [id])).jobs
            #expect(cancelled.map(\.state) == ["cancelled"])
            #expect(try daemon.list(["waiting"]).map(\.reason) == ["paused: for the test"])
            _ = try daemon.call(Call.Resume())
            try await daemon.waitForAll()
            await daemon.stop()
            #expect(daemon.files(in: "cancelled") == ["noir/one.png"])
            #expect(daemon.files(in: "outbox") == ["noir/two.jpg"])
        }
    }

    @Test("cancel answers when nothing runs, even if the original can't be moved yet")
    func blocked() async throws {
        try await DaemonFixture.with(["etc/recipes.d/slow.recipe": Self.recipe("avif")]) { daemon in
            try daemon.write("in the way", to: "cancelled/slow")
            try daemon.drop(Picture.tiff(width: 4000, height: 3000), as: "large.tif", inbox: "inbox/slow")
            let id = try await daemon.job("large.tif", becomes: "running")
            #expect(try daemon.call(Call.Cancel(ids: [id])).jobs.map(\.state) == ["cancelled"])
            #expect(daemon.files(in: "cancelled") == ["slow"])
            try FileManager.default.removeItem(atPath: daemon.path("cancelled/slow"))
            try await daemon.waitForAll()
            #expect(daemon.files(in: "cancelled") == ["slow/large.tif"])
        }
    }

    @Test(
        "a running job is cancelled in the middle of a decode, and of an encoder that does not check for it",
        arguments: [
            ("jpeg", 16000, 16000), ("webp", 8000, 6000), ("avif", 4000, 3000), ("jxl", 4000, 3000),
            ("png", 16000, 16000),
        ])
    func running(format: String, width: Int, height: Int) async throws {
        let file = ["etc/recipes.d/slow.recipe": Self.recipe(format)]
        try await DaemonFixture.with(file) { daemon in
            try daemon.drop(Picture.tiff(width: width, height: height), as: "large.tif", inbox: "inbox/slow")
            let id = try await daemon.job("large.tif", becomes: "running")
            let cancelled = try daemon.call(Call.Cancel(ids: [id])).jobs
            #expect(cancelled.map(\.state) == ["cancelled"])
            #expect(daemon.files(in: "outbox") == [])
            // A new worker has replaced the worker that was stopped or killed.
            try daemon.drop(as: "next.png", inbox: "inbox/slow")
            try await daemon.job("next.png", becomes: "done")
            await daemon.stop()
            #expect(daemon.files(in: "cancelled") == ["slow/large.tif"])
        }
    }

    @Test("cancel-all ends running, queued and settling jobs; later files are processed")
    func all() async throws {
        let files = [
            "etc/recipes.d/slow.recipe": Self.recipe("avif"),
            "etc/recipes.d/late.recipe": "[Recipe]\nInbox=late\n[Inbox]\nSettle=1h\n[Output]\nChain=resize scale=0.5\n",
        ]
        try await DaemonFixture.with(files) { daemon in
            let large = Picture.tiff(width: 4000, height: 3000)
            for number in 1...6 { try daemon.drop(large, as: "\(number).tif", inbox: "inbox/slow") }
            // The file is written in place instead of being moved in, so it has to settle.
            try Picture.small.write(to: URL(fileURLWithPath: daemon.path("inbox/late/settling.png")))
            try await daemon.event { $0.job?.state == "running" }
            let outcome = try await daemon.pipectl("cancel-all")
            #expect(outcome.status == 0)
            let status = try daemon.status()
            #expect(status.jobs.running + status.jobs.cancelling + status.jobs.queued == 0)
            #expect(status.jobs.cancelled == 6)
            #expect(daemon.files(in: "outbox") == [])
            try daemon.drop(as: "later.png")
            try await daemon.job("later.png", becomes: "done")
        }
    }

    @Test(
        "cancel-all, and cancel by recipe, name an inbox that does not answer, and cancel everything else",
        .enabled(if: Mount.isPermitted, "only root may mount"))
    func silent() async throws {
        let files = [
            "etc/recipes.d/far.recipe": "[Recipe]\nInbox=far\n[Output]\nChain=resize scale=0.5\n",
            "etc/pipelined.conf": "[Daemon]\nHangTimeout=3s\n",
        ]
        try await DaemonFixture.with(files) { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.drop(as: "one.png")
            try await daemon.job("one.png", becomes: "queued")
            let inbox = daemon.path("inbox/far")
            let server = try HangingMount(inbox)
            defer { server.end() }
            let line = ", but inbox \(inbox) does not answer: the files that lie in it are not cancelled"
            let all = try await daemon.pipectl("cancel-all")
            #expect(all.status == 1 && all.errors.contains("cancelled 1" + line), "\(all)")
            let far = try await daemon.pipectl("cancel", "--recipe", "far")
            #expect(far.status == 1 && far.errors.contains("cancelled 0" + line), "\(far)")
            #expect(try daemon.status().jobs.cancelled == 1)
        }
    }

    @Test("a batch, recipe or state can be cancelled while others run; an unknown one is reported")
    func chosen() async throws {
        let files = [
            "etc/recipes.d/web.recipe": "[Recipe]\nInbox=web\n[Output]\nChain=resize scale=0.5\n",
            "etc/recipes.d/late.recipe": "[Recipe]\nInbox=late\n[Inbox]\nSettle=1h\n[Output]\nChain=resize scale=0.5\n",
            "etc/pipelined.conf": "[Queues]\nWindow=4\n",
        ]
        try await DaemonFixture.with(files) { daemon in
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "0"))
            for name in ["1.png", "2.png", "3.png"] {
                try daemon.write(Picture.small, to: "mine/\(name)")
                try daemon.drop(as: "web-\(name)", inbox: "inbox/web")
                try await daemon.job("web-\(name)", becomes: "queued")
            }
            let mine = ["1.png", "2.png", "3.png"].map { daemon.path("mine/\($0)") }
            for recipe in ["web", "noir"] {
                let added = try await daemon.pipectl("add", mine[0], mine[1], mine[2], "--recipe", recipe)
                #expect(added.status == 0, "\(added.errors)")
            }
            try Picture.small.write(to: URL(fileURLWithPath: daemon.path("inbox/late/settling.png")))
            let both = try await daemon.pipectl("cancel", "--batch", "1", "--recipe", "noir")
            #expect(both.output == "cancelled 0 jobs\n")
            #expect(try await daemon.pipectl("cancel", "--batch", "1").output == "cancelled 3 jobs\n")
            let web = try await daemon.pipectl("cancel", "--recipe", "web", "--state", "queued", "--json")
            #expect(web.output.contains("\"cancelled\" : 3"))
            // Settling files count as waiting jobs as well.
            #expect(try await daemon.pipectl("cancel", "--recipe", "late").output == "cancelled 1 job\n")
            #expect(try await daemon.pipectl("cancel", "--state", "running,cancelling").output == "cancelled 0 jobs\n")
            #expect(try await daemon.pipectl("cancel", "--batch", "3").errors.contains("there is no batch '3'"))
            let unknown = try await daemon.pipectl("cancel", "--recipe", "wbe")
            #expect(unknown.status == 2 && unknown.errors.contains("noir, web"))
            #expect(try await daemon.pipectl("cancel", "--state", "done").status == 2)
            #expect(try await daemon.pipectl("cancel", "--batch", "1", "7").status == 2)
            #expect(throws: ControlError.self) { try daemon.call(Call.CancelMatching()) }
            _ = try daemon.call(Call.Concurrency(queue: "render", limit: "1"))
            try await daemon.wait([7, 8, 9])
            #expect(
                try daemon.list().filter { $0.recipe != "late" }.map(\.state)
                    == Array(repeating: "cancelled", count: 6) + Array(repeating: "done", count: 3))
        }
    }

    @Test("jobs that arrive for a paused queue are counted there, and the queue shows the reason of its pause")
    func pausedQueue() async throws {
        try await DaemonFixture.with(["etc/pipelined.conf": "[Queues]\nWindow=2\n"]) { daemon in
            _ = try daemon.call(Call.Pause(queue: "publish", reason: "the disk is being moved"))
            for number in 1...2 { try daemon.drop(as: "\(number).png") }
            for number in 1...2 { try await daemon.job("\(number).png", becomes: "waiting") }
            let publish = try #require(try daemon.status().queues["publish"])
            #expect(publish.waiting == 2 && publish.paused && publish.reason == "the disk is being moved")
            _ = try daemon.call(Call.Pause(queue: "render", reason: "for the test"))
            for number in 3...7 { try daemon.drop(as: "\(number).png") }
            try await daemon.job("7.png", becomes: "queued")
            let render = try #require(try daemon.status().queues["render"])
            #expect(render.waiting == 5 && render.reason == "for the test")
            // The count includes jobs that are shown as waiting because of the pause, and jobs that are recorded as
            // waiting.
            #expect(try daemon.call(Call.CancelMatching(states: ["waiting"])).cancelled == 7)
        }
    }

    @Test("under load, cancel-all leaves nothing queued or running, however small the window is")
    func allUnderLoad() async throws {
        try await DaemonFixture.with(["etc/pipelined.conf": "[Queues]\nWindow=16\n"]) { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            for number in 1...300 { try daemon.write(Picture.small, to: "outside/\(number).png") }
            try FileManager.default.moveItem(atPath: daemon.path("outside"), toPath: daemon.path("inbox/many"))
            try await daemon.event { $0.job?.id == 300 }
            _ = try daemon.call(Call.Resume())
            try await daemon.event { $0.job?.state == "done" }
            let chosen = try daemon.call(Call.Cancel(ids: Array(100...200))).jobs
            #expect(chosen.allSatisfy { ["done", "cancelled"].contains($0.state) })
            _ = try daemon.call(Call.CancelAll())
            let jobs = try daemon.status().jobs
            #expect(jobs.queued + jobs.running + jobs.cancelling == 0)
            #expect(jobs.done + jobs.cancelled == 300)
            await daemon.stop()
            #expect(daemon.files(in: "cancelled").count == jobs.cancelled)
            #expect(daemon.files(in: "archive").count == jobs.done)
            #expect(daemon.files(in: "outbox").count == jobs.done)
        }
    }

    @Test(
        "when names recur during cancels and retries, no original is lost or moved under another job"
    )
    func sameNames() async throws {
        try await DaemonFixture.with(["etc/pipelined.conf": "[Queues]\nWindow=16\n"]) { daemon in
            for round in 1...2 {
                _ = try daemon.call(Call.Pause(queue: "render"))
                for number in 1...100 { try daemon.write(Picture.small, to: "round\(round)/\(number).png") }
                for number in 1...100 {
                    try FileManager.default.moveItem(
                        atPath: daemon.path("round\(round)/\(number).png"), toPath: daemon.path("inbox/\(number).png"))
                }
                try await daemon.event { $0.job?.id == round * 100 }
                _ = try daemon.call(Call.Resume())
                _ = try daemon.call(Call.CancelAll())
            }
            let retried = try daemon.call(Call.Retry(states: ["cancelled"])).retried
            try await daemon.wait(retried)
            #expect(try daemon.status().jobs.done == 200)
            await daemon.stop()
            #expect(daemon.files(in: "archive").count == 200)
            #expect(daemon.files(in: "outbox").count == 200)
            #expect(daemon.files(in: "cancelled") == [])
        }
    }

    @Test("a job that is named twice is retried once, and a missing original is reported")
    func retryTwice() async throws {
        let recipe = "[Recipe]\nInbox=kept\nOriginal=keep\n[Output]\nChain=resize scale=0.5\n"
        try await DaemonFixture.with(["etc/recipes.d/kept.recipe": recipe]) { daemon in
            try daemon.drop(Data("text".utf8), as: "text.png", inbox: "inbox/kept")
            let id = try await daemon.job("text.png", becomes: "failed")
            let outcome = try await daemon.pipectl("retry", "\(id)", "\(id)")
            #expect(outcome.status == 0, "\(outcome.errors)")
            try await daemon.waitForAll()
            let jobs = try daemon.status().jobs
            #expect(jobs.failed == 1 && jobs.queued == 0)
            try FileManager.default.removeItem(atPath: daemon.path("inbox/kept/text.png"))
            let gone = try await daemon.pipectl("retry", "\(id)")
            #expect(gone.status == 1)
            #expect(gone.errors.contains("No such file"))
            #expect(try daemon.status().jobs.failed == 1)
        }
    }

    @Test("a file that settles during cancel-all ends cancelled, and is not processed")
    func settling() async throws {
        try await DaemonFixture.with(["etc/pipelined.conf": "[Inbox]\nSettle=300ms\n"]) { daemon in
            try Picture.small.write(to: URL(fileURLWithPath: daemon.path("inbox/settling.png")))
            do {
                // The daemon can't claim a file that is still open, so this file settles again after its quiet time.
                // The daemon must still cancel it.
                let open = try Descriptor.open(daemon.path("inbox/open.png"), O_WRONLY | O_CREAT)
                #expect(try daemon.call(Call.CancelAll()).cancelled == 2)
                try await daemon.job("settling.png", becomes: "cancelled")
                withExtendedLifetime(open) {}
            }
            try await daemon.job("open.png", becomes: "cancelled")
            await daemon.stop()
            #expect(daemon.files(in: "cancelled") == ["noir/open.png", "noir/settling.png"])
            #expect(daemon.files(in: "outbox") == [])
        }
    }

    @Test("more paused jobs than the window holds are cancelled as rows, and every original is moved")
    func many() async throws {
        let count = Sweep.of(600, all: 3000)
        let files = ["etc/pipelined.conf": "[Queues]\nWindow=16\n"]
        try await DaemonFixture.with(files) { daemon in
            _ = try daemon.call(Call.Pause(queue: "render"))
            for number in 1...count { try daemon.write("x", to: "outside/\(number).png") }
            try FileManager.default.moveItem(atPath: daemon.path("outside"), toPath: daemon.path("inbox/many"))
            try await daemon.event { $0.job?.id == count }
            #expect(try daemon.call(Call.CancelAll()).cancelled == count)
            #expect(try daemon.status().jobs.cancelled == count)
            await daemon.stop()
            #expect(daemon.files(in: "cancelled").count == count)
        }
    }

    @Test("hundreds of cancelled jobs are brought back once each, and other clients are served meanwhile")
    func retryOfMany() async throws {
        try await DaemonFixture.with { daemon in
            _ = try daemon.call(Call.Pause(queue: "render", reason: nil))
            for number in 0..<450 { try daemon.drop(Data("x".utf8), as: "\(number).png") }
            try await daemon.event { $0.job?.id == 450 }
            _ = try daemon.call(Call.CancelAll())
            let retried = try daemon.call(Call.Retry(ids: [], states: ["cancelled"])).retried
            #expect(retried == Array(1...450))
            #expect(try daemon.list().map(\.state) == Array(repeating: "waiting", count: 450))
            #expect(daemon.files(in: "cancelled") == [])
        }
    }

    @Test("a cancelled or failed job can be retried, under the recipe as it is then")
    func retry() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.drop(Data("no picture".utf8), as: "text.png")
            try await daemon.job("text.png", becomes: "failed")
            _ = try daemon.call(Call.Pause())
            try daemon.drop(as: "held.png")
            let held = try await daemon.job("held.png", becomes: "queued")
            _ = try daemon.call(Call.CancelAll())
            _ = try daemon.call(Call.Resume())
            let change = "[Output]\nChain=resize scale=0.25 | save format=png\n"
            try daemon.write(change, to: "etc/recipes.d/noir.recipe")
            #expect(try daemon.call(Call.Reload()).problems == [])
            let retried = try daemon.call(Call.Retry(states: ["failed", "cancelled"])).retried
            #expect(retried.count == 2)
            try await daemon.wait(retried)
            let states = try daemon.list().map(\.state)
            #expect(states == ["failed", "done"])
            #expect(try daemon.list().last?.id == held)
            await daemon.stop()
            #expect(daemon.files(in: "outbox") == ["noir/held.png"])
            #expect(daemon.files(in: "failed") == ["noir/text.png", "noir/text.png.error.txt"])
        }
    }

    @Test("a failed picture lies in failed/ with the reason, the chain and the remedy beside it")
    func failed() async throws {
        try await DaemonFixture.with { daemon in
            try daemon.drop(Data("no picture at all".utf8), as: "album/text.jpg")
            try daemon.drop(Data(), as: "empty.jpg")
            try await daemon.waitForAll()
            let jobs = try daemon.list()
            #expect(jobs.map(\.state) == ["failed", "failed"])
            await daemon.stop()
            let text = try daemon.text("failed/noir/album/text.jpg.error.txt")
            #expect(text.contains("resize scale=0.5 | noir | save format=jpeg quality=85"))
            #expect(text.contains("pipectl retry"))
            #expect(text.contains("looks like text"))
            #expect(try daemon.text("failed/noir/empty.jpg.error.txt").contains("empty"))
        }
    }
}
