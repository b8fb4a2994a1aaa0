import DaemonRuntime
import JobLedger
import JobModel
import PipelineModel
import SystemCalls
import Testing

@testable import DaemonConfiguration
@testable import JobFlow
@testable import PictureFiles

@Suite("Recovery after a crash")
struct RecoveryTests {
    private func recovery(_ fixture: OwnersFixture) throws -> Recovery {
        let (configuration, originals) = Coordination.sync { (fixture.owners.configuration, fixture.owners.originals) }
        return Recovery(
            ledger: fixture.ledger, configuration: configuration, publisher: Publisher(),
            staging: try Staging(fixture.places), originals: originals)
    }

    @Test("a job that was running at a crash is queued again, and fails after too many crashes")
    func crashed() async throws {
        try await OwnersFixture.with("[Daemon]\nCrashTries=2\n") { (fixture: OwnersFixture) async throws -> Void in
            var (first, second) = (fixture.job(1, .running), fixture.job(2, .running))
            (first.started, second.crashes) = (1000, 1)
            #expect(fixture.insert([first, second, fixture.job(3, .cancelling), fixture.job(4)]))
            var queued = second
            queued.state = .queued
            for job in [first, queued, second] { fixture.ledger.record(job) }
            #expect(fixture.ledger.flush(seconds: 30))
            try recovery(fixture).recover()
            let rows = try fixture.ledger.jobs([1, 2, 3, 4])
            #expect(rows.map(\.state) == [.queued, .failed, .cancelled, .queued])
            #expect(rows.map(\.crashes) == [1, 2, 0, 0] && rows.map(\.tries) == [1, 1, 0, 0])
            #expect(rows[0].started == nil && rows[1].failure == .crash)
            #expect(rows[1].error == "the daemon has crashed 2 times while it worked on this picture")
            #expect(rows[1].finished != nil && rows[2].finished != nil)
        }
    }

    @Test("a job with an intent is queued and keeps it; its staging files stay, and its outbox is not touched")
    func intents() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let folder = "\(fixture.places.outbox)/r"
            let staging = try Staging(fixture.places).folder(in: folder)
            var job = fixture.job(1, .running)
            let step = PublishIntent.Step(staging: "\(staging)/1.png", target: "\(folder)/1.png", conflict: .number)
            let intent = PublishIntent(steps: [step])
            job.intent = intent
            for name in ["1.png", "nobody.png"] { try fixture.write("picture", to: "\(staging)/\(name)") }
            #expect(fixture.insert([job]))
            fixture.ledger.record(intent: intent, of: 1, done: {}, refused: {})
            #expect(fixture.ledger.flush(seconds: 30))
            let recovery = try recovery(fixture)
            try recovery.recover()
            let row = try #require(try fixture.ledger.job(1))
            #expect(
                row.state == .queued && row.intent?.steps.map(\.target) == [step.target] && row.crashes == 0
                    && row.started == nil)
            #expect(fixture.exists("\(staging)/nobody.png") && !fixture.exists("\(folder)/1.png"))
            try recovery.sweepStaging().wait()
            #expect(fixture.exists("\(staging)/1.png") && !fixture.exists("\(staging)/nobody.png"))
        }
    }

    @Test(
        "an unfinished copy is removed; a whole copy without a job goes to recovered/; a job's original stays its own"
    )
    func spool() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let spool = fixture.places.spool
            let job = fixture.job(1)
            try fixture.write("picture", to: job.source)
            try fixture.write("picture", to: "\(spool)/nobody/x.png")
            try fixture.write("pict", to: "\(Spool.unfinished("\(spool)/half"))/y.png")
            // The daemon crashed while it was bringing this original back, and the row still contains the old path.
            try fixture.write("picture", to: "\(spool)/retry-2/2.png")
            try FileSystem.makeFolders("\(fixture.places.failed)/r")
            var lost = fixture.job(2, .failed)
            (lost.finished, lost.disposed, lost.source) = (2000, true, "\(fixture.places.failed)/r/2.png")
            #expect(fixture.insert([job, lost]))
            try recovery(fixture).recover()
            #expect(fixture.exists(job.source))
            #expect(fixture.exists("\(fixture.places.recovered)/added/x.png"))
            #expect(try FileSystem.names(in: spool) == ["1"])
            // Job 2 is over, so its original has returned to failed/.
            #expect(fixture.exists(lost.source) && !fixture.exists("\(spool)/retry-2"))
            #expect(try fixture.ledger.job(2)?.isOver == true)
        }
    }
}
