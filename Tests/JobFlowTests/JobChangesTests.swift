import DaemonRuntime
import InboxWatching
import JobLedger
import JobModel
import PictureFiles
import PipelineModel
import ServiceProgram
import TestTools
import Testing

@testable import JobFlow

@Suite("Changes of jobs")
struct JobChangesTests {
    /// Runs `body` with four jobs, two of them in the window.
    private func with(_ body: (OwnersFixture, JobChanges) async throws -> Void) async throws {
        let settings = "Window=2\n[Daemon]\nHangTimeout=1\n"
        try await OwnersFixture.with(settings) { (fixture: OwnersFixture) async throws -> Void in
            #expect(fixture.insert((1...4).map { fixture.job($0) }))
            let changes = Coordination.sync {
                fixture.owners.jobs.begin(after: (4, 4, 0))
                fixture.owners.jobs.fill()
                #expect(Set(fixture.owners.jobs.ids) == [1, 2])
                return fixture.owners.changes
            }
            try await body(fixture, changes)
        }
    }

    private func cancel(_ choice: JobChoice, _ changes: JobChanges) async -> Int {
        await withCheckedContinuation { continuation in
            Coordination.async { changes.cancel(choice) { continuation.resume(returning: $0) } }
        }
    }

    @Test("a cancellation is answered when its jobs have ended and are recorded, in the window or not; others go on")
    func cancelled() async throws {
        try await with { (fixture, changes) async throws in
            #expect(await cancel(JobChoice(ids: [1, 4, 9]), changes) == 2)
            #expect(try fixture.ledger.jobs([1, 2, 3, 4]).map(\.state) == [.cancelled, .queued, .queued, .cancelled])
            #expect(fixture.count(.cancelled) == 2)
            await fixture.until { Set(fixture.owners.jobs.ids) == [2, 3] }
            #expect(await cancel(JobChoice(), changes) == 2)
            Coordination.sync {
                #expect(fixture.owners.jobs.isEmpty && !fixture.owners.jobs.counts.isBusy)
            }
            #expect(await cancel(JobChoice(), changes) == 0)
        }
    }

    @Test("no job waits for an inbox that does not answer, and the caller learns that its files are not cancelled")
    func silent() async throws {
        try await with { (fixture, changes) async throws in
            let (gate, inboxes) = (Gate(), Coordination.sync { fixture.owners.inboxes })
            Coordination.sync { inboxes.open(into: fixture.owners.intake) }
            let all = Coordination.sync { inboxes.all }
            for inbox in all { inbox.afterwards { gate.wait() } }
            let answer = await withCheckedContinuation { continuation in
                Coordination.async {
                    changes.cancel(JobChoice(), in: all) { continuation.resume(returning: (count: $0, left: $1)) }
                }
            }
            #expect(answer.count == 4 && fixture.count(.cancelled) == 4)
            let line =
                "cancelled 4, but inbox \(fixture.places.inbox) does not answer: the files that lie in it are not"
            #expect(answer.left?.hasPrefix(line) == true, "\(answer)")
            gate.open()
            await inboxes.stopped()
        }
    }

    @Test("prioritised jobs run before the jobs in the window that have not begun")
    func prioritised() async throws {
        try await with { (fixture, changes) async throws in
            let count = await withCheckedContinuation { continuation in
                Coordination.async {
                    changes.prioritise(JobChoice(ids: [2, 4]), .high) { continuation.resume(returning: $0) }
                }
            }
            #expect(count == 2)
            #expect(try fixture.ledger.queued(limit: 9).map(\.id) == [2, 4, 1, 3])
            await fixture.until { Set(fixture.owners.jobs.ids).isSuperset(of: [2, 4]) }
            Coordination.sync { #expect(fixture.owners.jobs[2]?.record.priority == Priority.high.rank) }
        }
    }

    @Test("a job that has not begun may be made to depend on another job, and leaves the window then")
    func dependent() async throws {
        try await with { (fixture, changes) async throws in
            func depend(_ id: Int, after other: Int) async -> NeedsAnswer {
                await withCheckedContinuation { continuation in
                    Coordination.async {
                        changes.depend(id, after: [other], remove: [], anyway: false) {
                            continuation.resume(returning: $0)
                        }
                    }
                }
            }
            #expect(await depend(2, after: 3) == .done)
            #expect(try fixture.ledger.job(2)?.waitReason == .after)
            await fixture.until { Set(fixture.owners.jobs.ids) == [1, 3] }
            Coordination.sync {
                if let job = fixture.owners.jobs[1] { fixture.owners.runner.advance(job, .began) }
            }
            #expect(await depend(1, after: 3) == .begun(.running))
            Coordination.sync { #expect(fixture.owners.jobs[1] != nil) }
        }
    }

    @Test("jobs that are brought back are queued behind all others")
    func again() async throws {
        try await with { (fixture, _) async throws in
            var job = fixture.job(5, .failed)
            (job.finished, job.disposed, job.error) = (2000, true, "it was broken")
            #expect(fixture.insert([job]))
            await withCheckedContinuation { continuation in
                Coordination.async { [job] in fixture.owners.jobs.queueAgain([job]) }
                Coordination.async { fixture.ledger.whenDurable { continuation.resume() } }
            }
            #expect(try fixture.ledger.queued(limit: 9).map(\.id) == [1, 2, 3, 4, 5])
            #expect(fixture.count(.failed) == 0 && fixture.count(.queued) == 5)
        }
    }
}
