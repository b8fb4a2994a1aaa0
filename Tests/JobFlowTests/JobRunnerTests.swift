import DaemonRuntime
import JobLedger
import JobModel
import PipelineModel
import ServiceProgram
import Synchronization
import Testing

@testable import JobFlow
@testable import PictureFiles

@Suite("The job runner")
struct JobRunnerTests {
    private let intent = PublishIntent(steps: [.init(staging: "/staging", target: "/out/1.png", conflict: .number)])

    /// Runs `body` with two jobs in the window.
    private func with(_ body: (OwnersFixture, JobRunner) async throws -> Void) async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            #expect(fixture.insert((1...2).map { fixture.job($0) }))
            Coordination.sync { fixture.owners.jobs.fill() }
            try await body(fixture, fixture.owners.runner)
        }
    }

    private func intend(_ id: Int, _ runner: JobRunner) async -> Bool {
        await withCheckedContinuation { continuation in
            Coordination.async { runner.intend(id, intent) { continuation.resume(returning: $0) } }
        }
    }

    @Test("a job whose chain begins with a barrier arrives there without entering the window")
    func barrier() async throws {
        try await with { (fixture, _) async throws in
            var job = fixture.job(3)
            job.batch = 1
            let chain = try Chain(parsing: "barrier | save", catalog: .builtIn)
            job.order.outputs = [RecipeOutput(name: nil, chain: chain)]
            fixture.ledger.insert([job], batches: [BatchRecord(id: 1, isOpen: true)])
            #expect(fixture.ledger.flush(seconds: 30))
            Coordination.sync {
                fixture.owners.jobs.add(1, to: .queued)
                fixture.owners.jobs.fill()
                #expect(fixture.owners.jobs[3] == nil && fixture.owners.jobs.counts[.waiting] == 1)
            }
            await fixture.until { fixture.owners.jobs.isRecorded }
            let row = try #require(try fixture.ledger.job(3))
            #expect(row.state == .waiting && row.waitReason == .barrier && row.segment == 1)
            #expect(row.reason == "barrier: waits for the others of batch 1")
        }
    }

    @Test(
        "the intent is durable before the renames, and then the job can't be cancelled; a job that leaves has no intent"
    )
    func intent() async throws {
        try await with { (fixture, runner) async throws in
            #expect(await intend(1, runner))
            #expect(try fixture.ledger.job(1)?.intent == intent)
            Coordination.sync {
                let (first, second) = (fixture.owners.jobs[1], fixture.owners.jobs[2])
                if let first { fixture.owners.runner.cancel(first) }
                #expect(fixture.owners.jobs[1] != nil)
                second?.life = .stopping(.cancel, .running)
            }
            #expect(await !intend(2, runner))
            #expect(await !intend(3, runner))
            #expect(try fixture.ledger.job(2)?.intent == nil)
        }
    }

    @Test("a published job is recorded as done before that is reported, without the errors of earlier attempts")
    func concluded() async throws {
        try await with { (fixture, runner) async throws in
            #expect(await intend(1, runner))
            await withCheckedContinuation { continuation in
                Coordination.async {
                    fixture.owners.jobs[1]?.record.error = "a disk was away"
                    fixture.owners.jobs[1]?.record.failure = .transient
                    let outcome = Publisher.Outcome(published: intent.steps.map { Publisher.Published(step: $0) })
                    runner.conclude(1, outcome) { continuation.resume() }
                }
            }
            let row = try #require(try fixture.ledger.job(1))
            #expect(row.state == .done && row.outputs.map(\.path) == ["/out/1.png"] && row.intent == nil)
            #expect(row.error == nil && row.failure == nil && row.finished != nil)
            Coordination.sync {
                #expect(fixture.owners.jobs.ids == [2] && fixture.owners.jobs.counts[.done] == 1)
            }
            // The runner calls the completion immediately if the job does not exist.
            await withCheckedContinuation { continuation in
                Coordination.async { runner.conclude(9, Publisher.Outcome()) { continuation.resume() } }
            }
        }
    }
}
