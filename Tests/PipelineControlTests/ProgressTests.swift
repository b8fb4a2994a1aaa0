import PipelineControl
import Testing

@testable import pipectl

struct ProgressTests {
    private func status(open: Int, settling: Int = 0, cursor: Int = 0) -> Control.Overview {
        var inbox = Sample.inbox
        inbox.settling = settling
        return Sample.status(jobs: Sample.jobs { $0.queued = open }, inboxes: [inbox], cursor: cursor)
    }

    @Test("Done, known, rate and remaining time come from the events and the status")
    func figures() {
        var progress = Progress(status: status(open: 6), since: 0, now: 100)
        #expect(progress.rate(now: 100) == nil)
        for id in 1...4 { progress.take(Sample.event(id, Sample.job(id)), now: 100 + Double(id)) }
        progress.take(status(open: 2, cursor: 4))
        #expect(progress.done == 4)
        #expect(progress.known == 6)
        #expect(progress.rate(now: 104) == 1)
        #expect(progress.remaining(now: 104) == 2)
        #expect(progress.isCaughtUp)
        #expect(!progress.isIdle)
    }

    @Test("A job that is brought back is open again")
    func broughtBack() {
        var progress = Progress(status: status(open: 0), since: 0, now: 0)
        progress.take(Sample.event(1, Sample.job(7, "failed")), now: 1)
        #expect(progress.failed == 1)
        progress.take(Sample.event(2, Sample.job(7, "queued")), now: 2)
        #expect(progress.done == 0)
        #expect(progress.failed == 0)
        progress.take(Sample.event(3, Sample.job(7)), now: 3)
        #expect(progress.done == 1)
        #expect(progress.latest.map(\.id) == [7])
    }

    @Test("What is still settling is not idle")
    func settling() {
        #expect(!Progress(status: status(open: 0, settling: 1), since: 0, now: 0).isIdle)
        #expect(Progress(status: status(open: 0), since: 0, now: 0).isIdle)
    }

    @Test("The events behind the status are waited for")
    func caughtUp() {
        #expect(!Progress(status: status(open: 0, cursor: 9), since: 8, now: 0).isCaughtUp)
    }

    @Test("The rate is that of the last seconds, not of the whole night")
    func recentRate() throws {
        var progress = Progress(status: status(open: 0), since: 0, now: 0)
        for id in 1...100 { progress.take(Sample.event(id, Sample.job(id)), now: Double(id) * 0.01) }
        for id in 101...140 { progress.take(Sample.event(id, Sample.job(id)), now: 1000 + Double(id - 100) * 0.5) }
        let rate = try #require(progress.rate(now: 1020))
        #expect(abs(rate - 2) < 0.3)
    }
}
