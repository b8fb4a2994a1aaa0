import JobModel
import PipelineModel
import SystemCalls
import TestTools
import Testing

@testable import JobLedger

@Suite("Rows of a redo")
struct RedoRowTests {
    /// Runs `body` with a job that was done under one work order and is queued again under another.
    private func with(_ body: (Ledger, _ old: WorkOrder) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            var job = job(1, .done)
            job.outputs = [PublishedFile(path: "/out/a.jpg")]
            (job.finished, job.disposed, job.tries, job.story) = (2000, true, 1, JobStory())
            ledger.insert([job])
            ledger.record(job)
            let old = job.order
            (job.former, job.order.original) = (old, .delete)
            ledger.requeue([job]) {}
            #expect(ledger.flush(seconds: 30))
            try body(ledger, old)
        }
    }

    @Test("during a redo the row keeps its results, story and old work order, and accepts no dependencies")
    func underway() throws {
        try with { ledger, old in
            ledger.forgetOrders()
            ledger.insert([job(2, .queued)])
            ledger.depend(1, after: [2], remove: [], anyway: false) { #expect($0 == .begun(.done)) }
            #expect(ledger.flush(seconds: 30))
            let job = try #require(try ledger.job(1))
            #expect(job.state == .queued && job.former == old && job.order.original == .delete)
            #expect(job.outputs.map(\.path) == ["/out/a.jpg"] && job.story != nil && job.tries == 1 && !job.isOver)
        }
    }

    @Test("a cancelled redo is done under its old order, other jobs are cancelled, and both are counted")
    func cancelled() throws {
        try with { ledger, old in
            ledger.insert([job(2, .queued)])
            ledger.cancelQueued(upTo: 2, JobChoice(), except: [], at: 3000) {
                #expect(($0.queued, $0.queuedAgain, $0.all) == (1, 1, 2))
            }
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.counts() == [.done: 1, .cancelled: 1])
            let job = try #require(try ledger.job(1))
            #expect(job.order == old && job.former == nil && job.redoEnd == .cancelled && job.finished == 3000)
            #expect(job.outputs.count == 1 && !job.disposed)
            ledger.recordDisposal(of: [(1, "/archive/a.png")]) {}
            #expect(ledger.flush(seconds: 30))
            let over = try ledger.events(ofJob: 1, limit: 10).last
            #expect(over?.kind == "over" && over?.state == .cancelled)
        }
    }

    @Test("a redo that fails leaves the job done, with the failure; a successful redo removes the failure")
    func ended() throws {
        try with { ledger, old in
            var job = try #require(try ledger.job(1))
            (job.error, job.failure) = ("it is broken", .input)
            var failed = job
            failed.end(.failed, at: 3000)
            ledger.record(failed)
            #expect(ledger.flush(seconds: 30))
            let row = try #require(try ledger.job(1))
            #expect(row.state == .done && row.redoEnd == .failed && row.order == old && row.finished == 3000)
            #expect(row.reason == "the earlier results are unchanged")
            job.former = nil
            (job.state, job.error, job.failure) = (.done, nil, nil)
            ledger.record(job)
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.job(1)?.redoEnd == nil)
        }
    }

    @Test("an undone row is cancelled, and lists its results for removal; only a job that is over can be undone")
    func undone() throws {
        try with { ledger, _ in
            func undo(_ id: Int) -> Set<Int> {
                let step = PublishIntent.Step(staging: "/out/.staging/1", target: "/out/a.jpg", conflict: .number)
                let intent = PublishIntent(steps: [step])
                return ledger.undo([.init(job: id, intent: intent, reason: "undone", goal: "/again")]) ?? []
            }
            #expect(undo(1) == [])
            var done = job(2, .done)
            (done.disposed, done.finished) = (true, 2000)
            done.outputs = [PublishedFile(path: "/out/a.jpg")]
            ledger.insert([done])
            ledger.record(done)
            #expect(ledger.flush(seconds: 30))
            #expect(undo(2) == [2] && undo(2) == [])
            let row = try #require(try ledger.job(2))
            #expect(row.state == .cancelled && row.outputs == [] && row.intent?.steps.count == 1 && !row.disposed)
            #expect(row.goal == "/again" && row.reason == "undone")
        }
    }
}
