import PipelineControl
import Testing

@testable import pipectl

struct SeenTests {
    private func status(open: Int, settling: Int = 0, cursor: Int = 0) -> Control.Overview {
        var inbox = Sample.inbox
        inbox.settling = settling
        return Sample.status(jobs: Sample.jobs { $0.queued = open }, inboxes: [inbox], cursor: cursor)
    }

    @Test("Finished jobs are counted from the events, and unfinished ones from the status")
    func figures() {
        var seen = Seen(status: status(open: 6), since: 0, now: 100)
        for id in 1...4 { seen.take(Sample.event(id, Sample.job(id))) }
        seen.take(status(open: 2, cursor: 4))
        #expect(seen.isCaughtUp && !seen.isIdle)
        #expect(seen.summary(now: 104).rendered(color: false) == "4 done in 4.0 s")
    }

    @Test("A job that is brought back is open again")
    func broughtBack() {
        var seen = Seen(status: status(open: 0), since: 0, now: 0)
        seen.take(Sample.event(1, Sample.job(7, "failed")))
        #expect(seen.failed == 1)
        seen.take(Sample.event(2, Sample.job(7, "queued")))
        #expect(seen.failed == 0)
        seen.take(Sample.event(3, Sample.job(7)))
        #expect(seen.summary(now: 1).rendered(color: false) == "1 done in 1.0 s")
    }

    @Test("A settling file means that the daemon is not idle")
    func settling() {
        #expect(!Seen(status: status(open: 0, settling: 1), since: 0, now: 0).isIdle)
        #expect(Seen(status: status(open: 0), since: 0, now: 0).isIdle)
    }

    @Test("All events up to the status are awaited, even those that are not counted")
    func caughtUp() {
        var seen = Seen(status: status(open: 0, cursor: 9), since: 8, now: 0)
        #expect(!seen.isCaughtUp)
        seen.take(Sample.event(9, Sample.job(1, "failed")), counting: false)
        #expect(seen.isCaughtUp && seen.failed == 0)
    }
}
