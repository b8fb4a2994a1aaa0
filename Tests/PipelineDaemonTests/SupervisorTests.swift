import DaemonRuntime
import JobLedger
import PipelineModel
import Synchronization
import Testing

@testable import JobFlow
@testable import PictureFiles
@testable import PipelineDaemon

@Suite("The supervisor")
struct SupervisorTests {
    private let intent = PublishIntent(steps: [.init(staging: "/staging", target: "/out/1.png", conflict: .number)])

    /// Runs `body` with two jobs in the window.
    private func with(_ body: (OwnersFixture, JobRunner) async throws -> Void) async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            #expect(fixture.insert((1...2).map { fixture.job($0) }))
            let runner = Coordination.sync {
                fixture.owners.window.fill()
                return fixture.owners.window.delegate as? JobRunner
            }
            try await body(fixture, try #require(runner))
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
                fixture.owners.counts.add(to: .queued)
                fixture.owners.window.fill()
                #expect(fixture.owners.window[3] == nil && fixture.owners.counts[.waiting] == 1)
            }
            await fixture.until { fixture.owners.window.isRecorded }
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
                let (first, second) = (fixture.owners.window[1], fixture.owners.window[2])
                if let first { fixture.owners.states.cancel(first) }
                #expect(fixture.owners.window[1] != nil)
                second?.wish = .cancel
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
                    fixture.owners.window[1]?.record.error = "a disk was away"
                    fixture.owners.window[1]?.record.failure = .transient
                    let outcome = Publisher.Outcome(published: intent.steps.map { Publisher.Published(step: $0) })
                    runner.conclude(1, outcome) { continuation.resume() }
                }
            }
            let row = try #require(try fixture.ledger.job(1))
            #expect(row.state == .done && row.outputs.map(\.path) == ["/out/1.png"] && row.intent == nil)
            #expect(row.error == nil && row.failure == nil && row.finished != nil)
            Coordination.sync {
                #expect(fixture.owners.window.ids == [2] && fixture.owners.counts[.done] == 1)
            }
            // The runner completes at once for a job that does not exist.
            await withCheckedContinuation { continuation in
                Coordination.async { runner.conclude(9, Publisher.Outcome()) { continuation.resume() } }
            }
        }
    }
}
