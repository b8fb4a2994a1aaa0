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

    /// Two jobs that end, one after the other, once somebody watches; the status follows suit.
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
    }

    @Test("watch --json prints every event on a line, from the cursor it is given")
    func events() async throws {
        twoJobs()
        let outcome = try await Pipectl.run("watch", "--json", "--since", "5", "--until-idle", at: daemon)
        #expect(outcome.status == 0)
        let events = try outcome.objects()
        #expect(events.map { $0["cursor"] as? Int } == [11, 12])
        #expect(Set(try #require(events.first).keys) == ["cursor", "time", "kind", "job", "batch", "queue", "text"])
        #expect(try daemon.heard(Call.Watch.self).map(\.cursor) == [5])
    }

    @Test("Off a terminal it is one line an event, and the exit code tells of failures")
    func lines() async throws {
        twoJobs(second: "failed")
        let outcome = try await Pipectl.run("watch", "--until-idle", at: daemon)
        #expect(outcome.status == 1)
        #expect(outcome.lines.first == "2026-03-01 09:30  #1 done  picture-1.jpg → /srv/outbox/noir/picture-1.jpg")
        #expect(outcome.lines.count == 2)
    }

    @Test("On a terminal it leaves the last jobs and a summary when nothing is left to do")
    func summary() throws {
        twoJobs()
        let terminal = try PipectlTerminal("watch", "--until-idle", "--color", "never", at: daemon)
        #expect(terminal.finish() == 0)
        #expect(terminal.seen.contains("0 of 2") || terminal.seen.contains("of 2"))
        let left = terminal.seen.components(separatedBy: "\u{1b}[J").last ?? ""
        #expect(left.contains("#2 done  picture-2.jpg"))
        #expect(left.contains("2 done in "))
        #expect(left.hasSuffix("\u{1b}[?25h"))
    }

    @Test("Ctrl-C leaves the summary, too")
    func interrupted() throws {
        daemon.answer(Call.Status.self, .init(status: Sample.status(jobs: Sample.jobs { $0.running = 3 })))
        daemon.on(Call.Watch.self) { _, _ in }
        let terminal = try PipectlTerminal("watch", "--color", "never", at: daemon)
        terminal.read(until: "0 of 3")
        terminal.interrupt()
        #expect(terminal.finish() == 130)
        #expect(terminal.seen.contains("0 done · 3 still open in "))
    }

    @Test("A queue that is paused shows in the bar, with the reason")
    func paused() throws {
        daemon.answer(Call.Status.self, .init(status: Sample.status(jobs: Sample.jobs { $0.queued = 3 })))
        daemon.on(Call.Watch.self) { _, conversation in conversation.hangUp() }
        let terminal = try PipectlTerminal("watch", "--color", "never", at: daemon)
        #expect(terminal.finish() == 3)
        #expect(terminal.seen.contains("paused: render (the CPU is needed)"))
    }
}
