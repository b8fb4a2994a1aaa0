import DaemonRuntime
import Foundation
import JobModel
import PipelineModel
import ServiceProgram
import SystemCalls
import Testing

@testable import JobFlow

@Suite("The progress board")
struct ProgressBoardTests {
    /// Runs `body` with jobs 1 and 2 of batch 1, job 3 of batch 2, and job 4 without a batch, all in the window.
    private func with(_ body: (OwnersFixture, ProgressBoard) async throws -> Void) async throws {
        try await OwnersFixture.with("Download=0\n") { (fixture: OwnersFixture) async throws -> Void in
            let jobs = [1, 1, 2, nil].enumerated().map { index, batch in
                var job = fixture.job(index + 1)
                job.batch = batch
                return job
            }
            #expect(fixture.insert(jobs))
            let progress = Coordination.sync {
                fixture.owners.jobs.fill()
                return fixture.owners.jobs.progress
            }
            try await body(fixture, progress)
        }
    }

    /// Ends the job in this state, as if it had begun 100 seconds ago.
    private func end(_ id: Int, in fixture: OwnersFixture, _ state: JobState = .done) {
        Coordination.sync { endNow(id, in: fixture, state) }
    }

    @Coordination
    private func endNow(_ id: Int, in fixture: OwnersFixture, _ state: JobState = .done) {
        guard let job = fixture.owners.jobs[id] else {
            Issue.record("job \(id) is not in the window")
            return
        }
        job.record.started = Timestamp.now() - 100
        fixture.owners.runner.finish(job, state)
    }

    @Test("a batch is on the board while one of its jobs is in the window or has an unrecorded state")
    func present() async throws {
        try await with { (fixture, progress) async throws in
            Coordination.sync {
                #expect(progress.present == [1, 2])
                #expect(progress[1]?.inWindow == 2 && progress[2]?.inWindow == 1 && progress[nil]?.inWindow == 1)
                #expect(progress[3] == nil)
            }
            Coordination.sync {
                for id in [1, 4] { endNow(id, in: fixture) }
                // The ledger records the ended jobs later, so they still count as being in the window.
                #expect(progress[1]?.inWindow == 2 && progress[nil] != nil)
            }
            await fixture.until { progress[1]?.inWindow == 1 && progress[nil] == nil }
            end(2, in: fixture)
            await fixture.until { progress.present == [2] }
            // A job that has not begun needs no record, so it leaves the board immediately.
            Coordination.sync {
                #expect(fixture.owners.jobs[3].map(fixture.owners.runner.takeBack) == true)
                #expect(progress.present == [])
                progress.left(fixture.job(9))
                #expect(progress.present == [] && progress[nil] == nil)
            }
        }
    }

    @Test("ended jobs count, however they ended; jobs that wait or go back to the queue do not")
    func counted() async throws {
        try await with { (fixture, progress) async throws in
            let more = (5...8).map { id in
                var job = fixture.job(id)
                job.batch = 1
                return job
            }
            #expect(fixture.insert(more))
            Coordination.sync {
                fixture.owners.jobs.fill()
                // Stop the window from refilling, so that job 7 does not return immediately.
                fixture.owners.jobs.suspendFilling()
            }
            for (id, state) in [(1, JobState.done), (2, .failed), (5, .cancelled)] { end(id, in: fixture, state) }
            Coordination.sync {
                if let job = fixture.owners.jobs[6] { fixture.owners.runner.wait(job, .retry, "it is tried again") }
                if let job = fixture.owners.jobs[7] { #expect(fixture.owners.runner.takeBack(job)) }
            }
            await fixture.until { progress[1]?.inWindow == 1 }
            Coordination.sync {
                #expect(progress[1]?.pace.done == 3 && progress[2]?.pace.done == 0 && progress[nil]?.pace.done == 0)
            }
            // The batch's count restarts from zero when one of its jobs enters the window again.
            end(8, in: fixture)
            await fixture.until { progress[1] == nil }
            Coordination.sync {
                fixture.owners.jobs.resumeFilling()
                #expect(progress[1]?.inWindow == 1 && progress[1]?.pace.done == 0)
            }
        }
    }

    @Test("a pause discards the measured speed, and keeps the count of done jobs")
    func resumed() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let progress = Coordination.sync { fixture.owners.jobs.progress }
            #expect(fixture.insert((1...8).map { fixture.job($0) }))
            Coordination.sync {
                fixture.owners.jobs.fill()
                // Nothing has been measured yet, so there is nothing to discard.
                progress.resumed()
                #expect(progress[nil]?.pace.hasBegun == false)
            }
            for id in 1...3 { end(id, in: fixture) }
            await fixture.until { progress[nil]?.inWindow == 5 }
            Coordination.sync {
                #expect(progress[nil]?.pace.rate(at: Timestamp.now()) != nil)
                progress.resumed()
                let later = Timestamp.now() + 10
                #expect(progress[nil]?.pace.done == 3 && progress[nil]?.pace.rate(at: later) == nil)
            }
            for id in 4...6 { end(id, in: fixture) }
            await fixture.until { progress[nil]?.inWindow == 2 }
            Coordination.sync {
                #expect(progress[nil]?.pace.done == 6 && progress[nil]?.pace.rate(at: Timestamp.now() + 10) != nil)
            }
        }
    }

    @Test("only a batch with downloads says so")
    func downloads() async throws {
        try await with { (fixture, progress) async throws in
            var job = fixture.job(5)
            (job.batch, job.url, job.host) = (2, "http://example.com/5.png", "example.com")
            job.file = .none
            #expect(fixture.insert([job]))
            Coordination.sync {
                #expect(progress[2]?.downloads == false)
                fixture.owners.jobs.fill()
                #expect(progress[2]?.inWindow == 2)
                #expect(progress[2]?.downloads == true && progress[1]?.downloads == false)
            }
        }
    }
}
