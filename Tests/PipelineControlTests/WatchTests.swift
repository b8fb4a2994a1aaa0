import Foundation
import PipelineControl
import Synchronization
import TestTools
import Testing

struct WatchTests {
    private let daemon: CannedDaemon

    init() throws {
        daemon = try CannedDaemon()
    }

    /// Lets two jobs end, one after the other, once pipectl watches. The replies to `Status` count the jobs that are
    /// left.
    private func twoJobs(second: String = "done") {
        let open = Mutex(2)
        daemon.on(Call.Status.self) { _, conversation in
            let left = open.withLock { $0 }
            let status = Sample.status(jobs: Sample.jobs { $0.running = left }, cursor: 12 - left)
            try conversation.reply(Call.Status.Reply(status: status))
        }
        daemon.on(Call.Watch.self) { _, conversation in
            for (id, state) in [(1, "done"), (2, second)] {
                open.withLock { $0 -= 1 }
                let event = Sample.event(10 + id, Sample.job(id, state, input: "picture-\(id).jpg"))
                try conversation.reply(Call.Watch.Reply(events: [event]), continues: true)
            }
        }
        daemon.answer(Call.Wait.self, .init(jobs: []))
    }

    @Test("watch --json prints one event per line, from the given cursor")
    func events() async throws {
        twoJobs()
        let outcome = try await Pipectl.run("watch", "--json", "--since", "5", "--until-idle", at: daemon)
        #expect(outcome.status == 0)
        let events = try outcome.objects()
        #expect(events.map { $0["cursor"] as? Int } == [11, 12])
        #expect(
            Set(try #require(events.first).keys) == [
                "advice", "batch", "cursor", "job", "kind", "original", "outputs", "queue", "text", "time",
            ])
        #expect(try daemon.heard(Call.Watch.self).map(\.cursor) == [5])
    }

    @Test("Without a terminal it prints one line per event, and the exit code reports failures")
    func lines() async throws {
        twoJobs(second: "failed")
        let outcome = try await Pipectl.run("watch", "--until-idle", at: daemon)
        #expect(outcome.status == 1)
        #expect(outcome.lines.first == "2026-03-01 09:30  #1 done  picture-1.jpg → /srv/outbox/noir/picture-1.jpg")
        #expect(outcome.lines.count == 2)
    }

    @Test("On a terminal it shows the bar and running jobs, and leaves ended jobs and a summary")
    func summary() throws {
        daemon.answer(Call.Progress.self, Sample.progress(running: 2, of: 2))
        twoJobs()
        let terminal = try PipectlTerminal("watch", "--until-idle", "--color", "never", at: daemon)
        #expect(terminal.finish() == 0)
        let screen = terminal.seen
        #expect(screen.contains("0 of 2"))
        #expect(screen.contains("#2 download  harbour.jpg  ███░░░░░░░  38 %   1.2 MB/s         2 s"))
        #expect(screen.contains("#1 done  picture-1.jpg") && screen.contains("#2 done  picture-2.jpg"))
        let left = screen.components(separatedBy: "\u{1b}[J").last ?? ""
        #expect(left.contains("2 done in "))
        #expect(left.hasSuffix("\u{1b}[?25h"))
    }

    @Test("Ctrl-C leaves the summary, too")
    func interrupted() throws {
        daemon.answer(Call.Status.self, .init(status: Sample.status(jobs: Sample.jobs { $0.running = 3 })))
        daemon.on(Call.Progress.self) { _, conversation in
            try conversation.reply(Sample.progress(running: 3, of: 3), continues: true)
        }
        daemon.on(Call.Watch.self) { _, _ in }
        let terminal = try PipectlTerminal("watch", "--color", "never", at: daemon)
        terminal.read(until: "0 of 3")
        terminal.interrupt()
        #expect(terminal.finish() == 130)
        #expect(terminal.seen.contains("0 done in ") && terminal.seen.contains(", 3 still open"))
    }

    @Test("A paused queue is shown above the bars, with the reason")
    func paused() throws {
        daemon.answer(Call.Status.self, .init(status: Sample.status(jobs: Sample.jobs { $0.queued = 3 })))
        daemon.answer(Call.Progress.self, Sample.progress(running: 0, of: 3))
        daemon.on(Call.Watch.self) { _, _ in }
        let terminal = try PipectlTerminal("watch", "--color", "never", at: daemon)
        terminal.read(until: "paused: render (the CPU is needed)")
        terminal.interrupt()
        #expect(terminal.finish() == 130)
    }

    @Test("A resized terminal is redrawn, and no line wraps")
    func resized() throws {
        daemon.answer(Call.Status.self, .init(status: Sample.status(jobs: Sample.jobs { $0.running = 1 })))
        daemon.on(Call.Progress.self) { _, conversation in
            try conversation.reply(Sample.progress(running: 1, of: 1), continues: true)
        }
        daemon.on(Call.Watch.self) { _, _ in }
        let terminal = try PipectlTerminal("watch", "--color", "never", at: daemon)
        terminal.read(until: "38 %   1.2 MB/s")
        terminal.resize(columns: 40, rows: 5)
        terminal.read(until: "harbour.jpg   38 %")
        terminal.interrupt()
        #expect(terminal.finish() == 130)
    }

    /// Prepares a batch with failed jobs, and a job without a batch.
    private func batch(failed: Int) {
        let ended = Control.Batch(id: 3, done: 1, failed: failed)
        daemon.answer(Call.Status.self, .init(status: Sample.status(cursor: 12)))
        daemon.on(Call.Progress.self) { _, conversation in
            var reply = Sample.progress(running: 0, of: 0)
            let figures = Control.Progress(unit: "jobs", done: 2, total: 2, fraction: 1)
            reply.batches = [Control.BatchProgress(batch: ended, progress: figures)]
            try conversation.reply(reply)
        }
        daemon.on(Call.Watch.self) { _, conversation in
            var own = Sample.event(11, Sample.job(1, "done"))
            own.job?.batch = 3
            let other = Sample.event(12, Sample.job(2, "failed"))
            try conversation.reply(Call.Watch.Reply(events: [own, other]), continues: true)
        }
    }

    @Test(
        "watch --batch reports only that batch, ends with it, and its exit code reports failures", arguments: [0, 1])
    func ofBatch(failed: Int) async throws {
        batch(failed: failed)
        let outcome = try await Pipectl.run("watch", "--batch", "3", "--since", "10", "--json", at: daemon)
        #expect(outcome.status == Int32(failed))
        #expect(try outcome.objects().map { $0["cursor"] as? Int } == [11])
        #expect(try daemon.heard(Call.Progress.self).map(\.batch) == [3])
    }

    @Test("watch --json --progress prints each change of progress between the events")
    func progressLines() async throws {
        batch(failed: 0)
        let outcome = try await Pipectl.run(
            "watch", "--batch", "3", "--since", "10", "--json", "--progress", at: daemon)
        let progress = try #require(try outcome.objects().first { $0["cursor"] == nil })
        #expect(Set(progress.keys) == ["batches", "others", "jobs", "unfinished", "running"])
    }

    @Test("On a terminal wait shows the same progress below the ended jobs")
    func waiting() throws {
        daemon.answer(Call.Progress.self, Sample.progress(running: 2, of: 2))
        let gate = Gate()
        daemon.on(Call.Wait.self) { _, conversation in
            try conversation.reply(Call.Wait.Reply(jobs: [Sample.job(1)]), continues: true)
            let full = "job 2: its original stays at /a: No space left on device"
            try conversation.reply(Call.Wait.Reply(jobs: [], waitsFor: full), continues: true)
            gate.wait()
            try conversation.reply(Call.Wait.Reply(jobs: [Sample.job(2, "failed", error: "no picture")]))
        }
        let terminal = try PipectlTerminal("wait", "1", "2", "--color", "never", at: daemon)
        terminal.read(until: "1 of 2")
        terminal.read(until: "#2 download")
        terminal.read(until: "waits: job 2: its original stays at /a: No space left")
        gate.open()
        #expect(terminal.finish() == 1)
        #expect(terminal.seen.contains("#1 done  harbour.jpg") && terminal.seen.contains("#2 failed  harbour.jpg"))
    }

    @Test("Ctrl-C in wait exits with 130, and says which jobs go on and how to wait for them again")
    func interruptedWait() throws {
        daemon.answer(Call.Progress.self, Sample.progress(running: 2, of: 2))
        daemon.on(Call.Wait.self) { _, conversation in
            try conversation.reply(Call.Wait.Reply(jobs: [Sample.job(1)]), continues: true)
        }
        let terminal = try PipectlTerminal("wait", "1", "2", "3", "--color", "never", at: daemon)
        terminal.read(until: "#1 done")
        terminal.interrupt()
        #expect(terminal.finish() == 130)
        #expect(terminal.errors == "pipectl: jobs #2 #3 go on; `pipectl wait 2 3` waits again\n")
    }

    @Test("On a terminal drain shows running jobs; Ctrl-C ends only the wait, and says how to return")
    func draining() throws {
        daemon.answer(Call.Progress.self, Sample.progress(running: 2, of: 2))
        let gate = Gate()
        daemon.on(Call.Drain.self) { _, conversation in
            gate.wait()
            try conversation.reply(Call.Drain.Reply(queues: Sample.queues))
        }
        let left = try PipectlTerminal("drain", "--color", "never", at: daemon)
        left.read(until: "waits for 2 running jobs")
        left.interrupt()
        #expect(left.finish() == 130)
        #expect(left.errors.hasPrefix("pipectl: the drain goes on; `pipectl drain` waits for it again"))
        let terminal = try PipectlTerminal("drain", "--color", "never", at: daemon)
        terminal.read(until: "#2 download")
        gate.open()
        #expect(terminal.finish() == 0)
        #expect(terminal.seen.contains("paused: the CPU is needed"))
    }

    @Test("Ctrl-C between the last job and the end of the reply exits as usual, without a word about jobs")
    func interruptedAtTheEnd() async throws {
        daemon.on(Call.Wait.self) { _, conversation in
            try conversation.reply(
                Call.Wait.Reply(jobs: [Sample.job(1), Sample.job(2, "failed", error: "truncated")]), continues: true)
        }
        let process = try Pipectl.start(["wait", "1", "2"], at: daemon)
        await process.until { process.output.contains("#2") || process.status != nil }
        process.signal(SIGINT)
        let outcome = await process.outcome()
        #expect(outcome.status == 1 && outcome.errors.isEmpty, "\(outcome)")
    }

    @Test("When nothing progresses, wait says why: below the bar, or once on standard error")
    func stalled() async throws {
        daemon.answer(Call.Progress.self, Sample.progress(running: 0, of: 2))
        daemon.on(Call.WhyWaiting.self) { call, conversation in
            #expect(call.ids == [1, 2])
            try conversation.reply(
                Call.WhyWaiting.Reply(waiting: [.init(reason: "paused: the CPU is needed", jobs: 2)]))
        }
        daemon.on(Call.Wait.self) { _, _ in }
        let reason = "2 wait: paused: the CPU is needed; `pipectl resume` lets them go on"
        let terminal = try PipectlTerminal("wait", "1", "2", "--color", "never", at: daemon)
        terminal.read(until: reason)
        terminal.interrupt()
        #expect(terminal.finish() == 130)
        for (words, said) in [
            ([], reason), (["--json"], #"{"waiting":[{"jobs":2,"reason":"paused: the CPU is needed"}]}"#),
        ] {
            let process = try Pipectl.start(["wait", "1", "2"] + words, at: daemon)
            await process.until { process.errors.contains(said) || process.status != nil }
            process.signal(SIGINT)
            #expect(await process.outcome().status == 130)
        }
        daemon.answer(Call.Status.self, .init(status: Sample.status()))
        let all = try Pipectl.start(["wait"], at: daemon)
        await all.until { all.errors.contains("3 wait: retry at 09:31:00: connection reset") || all.status != nil }
        all.signal(SIGINT)
        let outcome = await all.outcome()
        #expect(outcome.errors.hasSuffix("pipectl: the jobs go on; `pipectl wait` waits for them again\n"))
    }

    @Test(
        "the time of --timeout ends wait and watch even while something happens all the time",
        arguments: ["watch", "wait"])
    func busyTimeout(verb: String) async throws {
        daemon.answer(Call.Status.self, .init(status: Sample.status(jobs: Sample.jobs { $0.running = 1 })))
        daemon.answer(Call.WhyWaiting.self, .init(waiting: []))
        daemon.on(Call.Watch.self) { _, conversation in
            for cursor in 1... {
                let event = Sample.event(cursor, Sample.job(1, "running"))
                try conversation.reply(Call.Watch.Reply(events: [event]), continues: true)
            }
        }
        daemon.on(Call.Wait.self) { _, conversation in
            while true { try conversation.reply(Call.Wait.Reply(jobs: []), continues: true) }
        }
        let words = verb == "wait" ? ["wait", "1"] : ["watch", "--until-idle"]
        let outcome = try await Pipectl.run(words + ["--timeout", "0.2s"], at: daemon)
        #expect(outcome.status == 124)
        let advice =
            verb == "wait"
            ? "job #1 goes on; `pipectl wait 1` waits again"
            : "the jobs go on; `pipectl watch --until-idle` follows them again"
        #expect(outcome.errors == "pipectl: \(advice)\n")
    }

    @Test(
        "Options that exclude each other are refused",
        arguments: [["--batch", "3", "--until-idle"], ["--progress"]])
    func usage(words: [String]) async throws {
        #expect(try await Pipectl.run(["watch"] + words, at: daemon).status == 2)
    }
}
