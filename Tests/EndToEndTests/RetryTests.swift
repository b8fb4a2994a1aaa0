import Foundation
import Glibc
import PipelineControl
import TestTools
import Testing

@Suite("Temporary failures are retried")
struct RetryTests {
    /// Returns a wrapper that refuses to open the first staging file of the first job, so that the job's first attempt
    /// fails. The next attempt uses another file name.
    private static func refusing(_ daemon: DaemonFixture) throws -> [String] {
        try FileCalls.wrapper([.fail("openat", EIO, on: [daemon.path("outbox/noir/.staging/test/1-0.jpg")])])
    }

    private static func settings(_ lines: String) -> [String: String] {
        ["etc/pipelined.conf": "[Daemon]\n\(lines)\n[Inbox]\nSettle=1ms\n", "state/id": "test\n"]
    }

    /// Runs `body` with a daemon whose first job, a.png, has failed once and waits for its retry.
    private static func withSetback(
        _ lines: String = "RetryDelay=1h", _ body: (DaemonFixture, Control.Job) async throws -> Void
    ) async throws {
        try await DaemonFixture.with(settings(lines), started: false) { daemon in
            try await daemon.start(under: refusing(daemon))
            try daemon.drop(as: "a.png")
            let event = try await daemon.event {
                $0.kind == "job" && $0.job?.input == "a.png" && $0.job?.state == "waiting"
            }
            try await body(daemon, try #require(event.job))
        }
    }

    @Test("a failed attempt waits with time and reason, is counted as such, and `retry` runs it now")
    func now() async throws {
        try await Self.withSetback { daemon, job in
            let reason = try #require(job.reason)
            #expect(
                reason.wholeMatch(
                    of: /retry at (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d \(1 of 5\): .*Input\/output error/) != nil,
                "\(reason)")
            let story = try daemon.call(Call.Show(id: 1)).story
            #expect(story.job.state == "waiting" && story.job.failure == "transient" && story.job.setbacks == 1)
            #expect(story.job.due != nil && story.job.error == nil)
            #expect(
                story.operations.map { "\($0.attempt) \($0.kind) \($0.state)" } == [
                    "1 render failed", "2 render pending", "2 publish pending",
                    "2 announce pending",
                ])
            #expect(story.operations.first?.failure == "transient")
            let waiting = try #require(try daemon.status().waiting.first)
            #expect(
                waiting.jobs == 1 && waiting.reason.hasPrefix("retry at ") && waiting.reason.contains("Input/output"))
            let page = try await daemon.pipectl("status")
            #expect(page.output.contains("1 waiting") && page.output.contains("1  retry at"), "\(page.output)")

            let retried = try await daemon.pipectl("retry", "1")
            #expect(retried.output == "retrying 1 job: #1\n", "\(retried)")
            try await daemon.waitForAll()
            let done = try daemon.call(Call.Show(id: 1)).story
            #expect(done.job.state == "done" && done.job.failure == nil && done.job.error == nil && done.tries == 2)
            #expect(done.job.due == nil && done.job.setbacks == 1)
            #expect(done.operations.map(\.state) == ["failed", "finished", "finished", "finished"])
            #expect(done.operations.map(\.attempt) == [1, 2, 2, 2])
            let render = done.operations[1]
            #expect(render.worker != nil && render.read == Picture.small.count)
            #expect(render.written == (try daemon.data("outbox/noir/a.jpg").count))
            let shown = try await daemon.pipectl("show", "1")
            #expect(shown.output.contains("TRY") && shown.output.contains("Input/output error (transient)"))
            await daemon.stop()
            #expect(daemon.files(in: "outbox") == ["noir/a.jpg"])
        }
    }

    @Test("all jobs that wait for a retry can be retried at once, but no jobs that wait for anything else")
    func early() async throws {
        try await Self.withSetback { daemon, _ in
            _ = try daemon.call(Call.Pause(queue: "render"))
            try daemon.drop(as: "b.png")
            try await daemon.job("b.png", becomes: "queued")
            #expect(throws: ControlError.self) { try daemon.call(Call.Retry(ids: [2])) }
            let retried = try await daemon.pipectl("retry", "--waiting", "--json")
            #expect(retried.output.contains("1") && !retried.output.contains("2"), "\(retried.output)")
            #expect(try daemon.call(Call.Retry(states: ["waiting"])).retried == [])
            _ = try daemon.call(Call.Resume())
            try await daemon.waitForAll()
            #expect(try daemon.list().map(\.state) == ["done", "done"])
        }
    }

    @Test("a job that waits for its retry can be cancelled", arguments: [false, true])
    func cancelled(all: Bool) async throws {
        try await Self.withSetback { daemon, job in
            if all {
                #expect(try daemon.call(Call.CancelAll()).cancelled == 1)
            } else {
                #expect(try daemon.call(Call.Cancel(ids: [job.id])).jobs.map(\.state) == ["cancelled"])
            }
            let cancelled = try #require(try daemon.list().first)
            #expect(cancelled.state == "cancelled" && cancelled.due == nil && cancelled.failure == nil)
            #expect(try daemon.status().jobs.waiting == 0)
            try await daemon.waitForAll()
            await daemon.stop()
            #expect(daemon.files(in: "cancelled") == ["noir/a.png"])
            #expect(daemon.files(in: "outbox") == [])
        }
    }

    @Test("a job is retried automatically when its delay is over")
    func due() async throws {
        try await Self.withSetback("RetryDelay=100ms") { daemon, _ in
            try await daemon.waitForAll()
            #expect(try daemon.list().map { "\($0.state) \($0.setbacks)" } == ["done 1"])
        }
    }

    @Test("a retry that falls due while the daemon is down runs at the start; others keep waiting")
    func down() async throws {
        try await Self.withSetback { daemon, _ in
            await daemon.stop(SIGKILL)
            try await daemon.start()
            #expect(try daemon.list().map(\.state) == ["waiting"])
            await daemon.stop()
            try await daemon.ledger("UPDATE jobs SET due = due - 7200")
            try await daemon.start()
            try await daemon.waitForAll()
            #expect(try daemon.list().map { "\($0.state) \($0.setbacks)" } == ["done 1"])
        }
    }

    @Test("a clock that is set back, by an hour or ten days, delays no retry beyond RetryMost")
    func setBack() async throws {
        try await Self.withSetback("RetryDelay=1h\nRetryMost=1h") { daemon, _ in
            await daemon.stop(SIGKILL)
            try await daemon.ledger("UPDATE jobs SET due = due + 864000")
            try await daemon.start()
            // The ledger writes in order. So once the new batch is recorded, everything that the daemon changed at its
            // start is recorded, too.
            _ = try daemon.call(Call.CloseBatch(batch: try daemon.call(Call.NewBatch()).batch))
            let due = try #require(try daemon.list().first?.due)
            let latest = Date().addingTimeInterval(3600)
            #expect(try Date(due, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) <= latest)
            await daemon.stop()
            try daemon.write("[Daemon]\nRetryMost=100ms\n[Inbox]\nSettle=1ms\n", to: "etc/pipelined.conf")
            try await daemon.start()
            try await daemon.waitForAll()
            #expect(try daemon.list().map { "\($0.state) \($0.setbacks)" } == ["done 1"])
        }
    }

    @Test("with Retries=0 a job fails at once")
    func never() async throws {
        try await DaemonFixture.with(Self.settings("Retries=0"), started: false) { daemon in
            try await daemon.start(under: Self.refusing(daemon))
            try daemon.drop(as: "a.png")
            try await daemon.waitForAll()
            let job = try #require(try daemon.list().first)
            #expect(job.state == "failed" && job.failure == "transient" && job.setbacks == 0)
            #expect(job.error?.hasSuffix("Input/output error") == true)
        }
    }

    @Test("a worker that is killed from outside, twice, does not count against the picture")
    func endedFromOutside() async throws {
        let files = Self.settings("RetryDelay=1h").merging(
            ["etc/recipes.d/slow.recipe": "[Recipe]\nInbox=slow\n[Output]\nChain=save format=avif\n"]) { $1 }
        try await DaemonFixture.with(files) { daemon in
            try daemon.drop(Picture.tiff(width: 900, height: 700), as: "long.tif", inbox: "inbox/slow")
            let first = try await daemon.worker(holding: "long.tif")
            kill(first, SIGTERM)
            try await daemon.says("the render worker of long.tif was ended by signal 15")
            var second = first
            while second == first { second = try await daemon.worker(holding: "long.tif") }
            kill(second, SIGKILL)
            let event = try await daemon.event { $0.job?.state == "waiting" && $0.text?.hasPrefix("retry at") == true }
            #expect(event.text?.contains("its worker was lost twice; the second was ended by signal 9") == true)
            let story = try daemon.call(Call.Show(id: 1)).story
            #expect(story.tries == 2 && story.job.failure == "transient")
            #expect(story.operations.prefix(2).map(\.worker) == [Int(first), Int(second)])
            #expect(story.operations.prefix(2).map(\.failure) == ["crash", "transient"])
            _ = try daemon.call(Call.Retry(ids: [1]))
            try await daemon.waitForAll()
            #expect(try daemon.call(Call.Show(id: 1)).story.tries == 3)
            #expect(try daemon.list().map(\.state) == ["done"])
        }
    }
}
