import DaemonRuntime
import JobLedger
import JobModel
import OperationGraph
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls
import Testing
import WorkerPools

@testable import DaemonConfiguration
@testable import JobFlow
@testable import PictureFiles

@Suite("Job states, and the consequences of failures")
struct JobStatesTests {
    /// Runs `body` with jobs of these IDs in the window.
    private func with(
        _ settings: String, _ ids: ClosedRange<Int>, _ body: (OwnersFixture, JobRunner) async throws -> Void
    ) async throws {
        try await OwnersFixture.with(settings) { (fixture: OwnersFixture) async throws -> Void in
            #expect(fixture.insert(ids.map { fixture.job($0) }))
            let owners = fixture.owners
            Coordination.sync {
                owners.jobs.begin(after: (ids.upperBound, ids.upperBound, 0))
                owners.jobs.fill()
                #expect(owners.jobs.count == ids.count)
            }
            try await body(fixture, owners.runner)
        }
    }

    @Test("the log says how long a done job took")
    func took() async throws {
        try await OwnersFixture.with("") { fixture in
            var job = fixture.job(1)
            job.started = 100
            let places = fixture.owners.configuration.places
            #expect(job.line(places, end: 101.504).hasSuffix(" (1.50 s)"))
            #expect(job.line(places, end: 100.014).hasSuffix(" (0.01 s)"))
        }
    }

    private func withJob(of owners: Owners, _ body: @Coordination (Job) -> Void) {
        Coordination.sync {
            guard let job = owners.jobs[1] else {
                Issue.record("job 1 is not in the window")
                return
            }
            body(job)
        }
    }

    /// Lets the job begin, and then fail.
    @Coordination
    private func fail(_ job: Job, _ failure: JobFailure, _ runner: JobRunner) {
        runner.advance(job, .began)
        runner.fail(job, failure)
    }

    @Test("a running job waits with a reason and continues without one; it is cancelled only when nothing works on it")
    func states() async throws {
        try await with("", 1...1) { (fixture, _) async throws in
            let owners = fixture.owners
            withJob(of: owners) { job in
                owners.runner.showWait(1, "not in work yet")
                #expect(job.record.state == .queued)
                owners.runner.advance(job, .began)
                owners.runner.showWait(1, "paused")
                #expect(job.record.state == .waiting && owners.jobs.counts[.waiting] == 1)
                owners.runner.showWait(1, nil)
                #expect(job.record.state == .running && job.record.reason == nil)
                owners.runner.advance(job, .intends)
                owners.runner.cancel(job)
                #expect(job.record.state == .running)
                owners.runner.advance(job, .intentRefused)
                owners.runner.cancel(job)
                #expect(owners.jobs.isEmpty && owners.jobs.counts[.cancelled] == 1 && owners.jobs.counts[.running] == 0)
            }
            await fixture.settle()
            #expect(try fixture.ledger.job(1)?.state == .cancelled)
            #expect(try fixture.texts("job", of: 1).contains("paused"))
        }
    }

    @Test("a job that is cancelled between the end of its download and the report stays until the report")
    func downloaded() async throws {
        try await with("", 1...1) { (fixture, _) async throws in
            var job = fixture.job(2)
            (job.url, job.file) = ("https://example.org/2.png", .none)
            #expect(fixture.insert([job]))
            Coordination.sync {
                fixture.owners.jobs.fill()
                guard let job = fixture.owners.jobs[2], let download = job.download else {
                    Issue.record("it is not there")
                    return
                }
                download.finish(.finished)
                fixture.owners.runner.advance(job, .began)
                fixture.owners.runner.cancel(job)
                #expect(fixture.owners.jobs[2] != nil && job.record.state == .cancelling)
                // Imitate the report of the finished download.
                job.record.file = fixture.job(2).file
                fixture.owners.runner.stopIfStill(job)
                #expect(fixture.owners.jobs[2] == nil && fixture.owners.jobs.counts[.cancelled] == 1)
            }
        }
    }

    @Test("a pause of rendering holds a downloaded picture, but not a download in progress")
    func pausedBehindDownload() async throws {
        try await with("Download=0\n", 1...1) { (fixture, _) async throws in
            let owners = fixture.owners
            let downloads = (2...3).map { id in
                var job = fixture.job(id)
                (job.url, job.file) = ("https://example.org/\(id).png", .none)
                return job
            }
            #expect(fixture.insert(downloads))
            await withCheckedContinuation { continuation in
                Coordination.async {
                    owners.jobs.fill()
                    for id in 2...3 { if let job = owners.jobs[id] { owners.runner.advance(job, .began) } }
                    owners.jobs[2]?.download?.finish(.finished)
                    owners.queues.pause([owners.queues.render], reason: "lunch") { continuation.resume() }
                }
            }
            Coordination.sync {
                #expect((1...3).map { owners.jobs[$0]?.record.state } == [.queued, .waiting, .running])
                #expect(owners.jobs[2]?.record.reason == "paused: lunch")
            }
        }
    }

    @Test("a caller that waits until no work is running is called when a job begins to wait")
    func rested() async throws {
        try await with("", 1...1) { (fixture, _) async throws in
            Coordination.sync {
                let runner = fixture.owners.runner
                let listener = EventListener()
                runner.events = listener
                runner.showWait(1, "not in work yet")
                if let job = fixture.owners.jobs[1] { runner.advance(job, .began) }
                #expect(listener.events.isEmpty)
                runner.showWait(1, "paused")
                #expect(listener.events == [.rested])
            }
        }
    }

    @Test("a running job that goes back to the queue has no reason, and is eligible once that is recorded")
    func givenBack() async throws {
        try await with("", 1...1) { (fixture, _) async throws in
            let owners = fixture.owners
            withJob(of: owners) { job in
                owners.runner.advance(job, .began)
                owners.runner.showWait(1, "paused")
                owners.runner.giveBack(job)
                #expect(owners.jobs.isEmpty && owners.jobs.counts[.queued] == 1 && owners.jobs.counts[.waiting] == 0)
            }
            await fixture.until { owners.jobs[1] != nil }
            let row = try #require(try fixture.ledger.job(1))
            #expect(row.state == .queued && row.reason == nil && row.started == nil)
        }
    }

    @Test("every ended job counts towards HistoryJobs=, and excess jobs are forgotten")
    func forgotten() async throws {
        try await with("[Daemon]\nHistoryJobs=8\n", 1...1) { (fixture, _) async throws in
            let over = (2...13).map { id in
                var job = fixture.job(id, .done)
                (job.finished, job.disposed) = (Timestamp.now(), true)
                return job
            }
            #expect(fixture.insert(over))
            Coordination.sync { if let job = fixture.owners.jobs[1] { fixture.owners.runner.cancel(job) } }
            await fixture.until { fixture.owners.jobs.counts[.done] <= 8 }
        }
    }

    @Test("a temporary failure is retried Retries= times, and then the job fails")
    func retried() async throws {
        try await with("[Daemon]\nRetries=1\n", 1...1) { (fixture, runner) async throws in
            let owners = fixture.owners
            let failure = JobFailure("the disk is away", class: .transient)
            Coordination.sync { if let job = owners.jobs[1] { fail(job, failure, runner) } }
            await fixture.settle()
            let row = try #require(try fixture.ledger.job(1))
            #expect(row.state == .waiting && row.waitReason == .retry && row.setbacks == 1 && row.due != nil)
            _ = await withCheckedContinuation { continuation in
                Coordination.async { owners.jobs.queueEarly([1]) { continuation.resume(returning: $0) } }
            }
            Coordination.sync { if let job = owners.jobs[1] { fail(job, failure, runner) } }
            await fixture.settle()
            #expect(try fixture.ledger.job(1)?.error == "the disk is away; it was tried 2 times")
            #expect(try fixture.ledger.job(1)?.state == .failed)
        }
    }

    @Test("a job whose picture is at fault fails at once; a filter that crashed with it gets a strike")
    func atFault() async throws {
        try await with("[Daemon]\nCrashStrikes=1\n", 1...1) { (fixture, runner) async throws in
            Coordination.sync {
                var failure = JobFailure("save: it crashed", advice: "look at it", class: .crash)
                failure.culprit = "save"
                if let job = fixture.owners.jobs[1] { fail(job, failure, runner) }
                let problem = "the filter 'save' has crashed or hung with 1 picture"
                #expect(fixture.owners.shortages[.filter("save")]?.reason == problem)
            }
            await fixture.settle()
            let row = try #require(try fixture.ledger.job(1))
            #expect(row.state == .failed && row.advice == "look at it" && row.failure == .crash)
        }
    }

    @Test("a full outbox or missing filter makes its job wait, and all others that need it, in the window or not")
    func shortage() async throws {
        try await with("Window=2\n", 1...2) { (fixture, runner) async throws in
            let owners = fixture.owners
            #expect(fixture.insert([fixture.job(3)]))
            let outbox = fixture.job(1).order.outbox
            Coordination.sync {
                if let job = owners.jobs[1] { fail(job, JobFailure("no space", class: .room), runner) }
            }
            await fixture.until { owners.jobs.counts[.waiting] == 3 && owners.jobs.isRecorded }
            #expect(
                try fixture.ledger.jobs([1, 2, 3]).map(\.reason) == Array(repeating: "no space in \(outbox)", count: 3))
            Coordination.sync { runner.bringBack(.place(outbox)) }
            await fixture.until { owners.jobs.counts[.queued] == 3 && owners.jobs.count == 2 }
            Coordination.sync {
                var failure = JobFailure("save: it is not loaded", class: .configuration)
                failure.filter = "save"
                owners.shortages.goOn(.place(outbox))
                if let job = owners.jobs.all.first { fail(job, failure, runner) }
            }
            await fixture.until { owners.jobs.counts[.waiting] == 3 && owners.jobs.isRecorded }
            #expect(try fixture.ledger.jobs([1, 2, 3]).allSatisfy { $0.reason == "the filter 'save' is not loaded" })
            // A row that is inserted now is deferred as well.
            #expect(fixture.insert([fixture.job(4)]))
            Coordination.sync { owners.jobs.fill() }
            await fixture.until { owners.jobs.counts[.waiting] == 4 }
        }
    }
}
