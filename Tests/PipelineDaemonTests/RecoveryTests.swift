import DaemonRuntime
import JobLedger
import PipelineModel
import SystemCalls
import Testing

@testable import PipelineDaemon

@Suite("The recovery")
struct RecoveryTests {
    private func recovery(_ fixture: OwnersFixture) throws -> Recovery {
        let (configuration, disposals) = Coordination.sync { (fixture.owners.configuration, fixture.owners.disposals) }
        return Recovery(
            ledger: fixture.ledger, configuration: configuration, publisher: Publisher(),
            staging: try Staging(fixture.places), disposals: disposals)
    }

    @Test("a job that was in work at a crash is queued again, and fails when that has happened too often")
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
            #expect(rows[1].error == "the daemon has crashed 2 times while this picture was in work")
            #expect(rows[1].finished != nil && rows[2].finished != nil)
        }
    }

    @Test("an intent is finished, in part or whole; a job of which nothing is left is made again")
    func intents() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let folder = "\(fixture.places.outbox)/r"
            let jobs = (1...2).map { id in
                var job = fixture.job(id, .running)
                job.intent = PublishIntent(
                    steps: ["a", "b"].map {
                        let staging = "\(folder)/.staging/\(id)\($0).png"
                        return .init(staging: staging, target: "\(folder)/\(id)\($0).png", conflict: .number)
                    })
                return job
            }
            // One was published before the crash.
            try fixture.write("a", to: "\(folder)/1a.png")
            try fixture.write("b", to: "\(folder)/.staging/1b.png")
            #expect(fixture.insert(jobs))
            for job in jobs {
                let intent = try #require(job.intent)
                fixture.ledger.record(intent: intent, of: job.id, done: {}, refused: {})
            }
            #expect(fixture.ledger.flush(seconds: 30))
            try recovery(fixture).recover()
            let rows = try fixture.ledger.jobs([1, 2])
            #expect(rows.map(\.state) == [.done, .queued] && rows.allSatisfy { $0.intent == nil })
            #expect(rows[0].outputs.map(\.path) == ["\(folder)/1a.png", "\(folder)/1b.png"])
            #expect(fixture.exists("\(folder)/1b.png") && !fixture.exists("\(folder)/.staging/1b.png"))
            let published = try fixture.ledger.events(after: 0, limit: 100).filter { $0.event.kind == "published" }
            #expect(published.map(\.event.job) == [1])
        }
    }

    @Test("a copy that nobody was told of is removed; the original of a job stays, and a lost one is its job's again")
    func spool() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let spool = fixture.places.spool
            let job = fixture.job(1)
            try fixture.write("picture", to: job.source)
            try fixture.write("picture", to: "\(spool)/nobody/x.png")
            // It was being brought back when the daemon crashed, and the row still names its old place.
            try fixture.write("picture", to: "\(spool)/retry-2/2.png")
            try FileSystem.makeFolders("\(fixture.places.failed)/r")
            var lost = fixture.job(2, .failed)
            (lost.finished, lost.disposed, lost.source) = (2000, true, "\(fixture.places.failed)/r/2.png")
            #expect(fixture.insert([job, lost]))
            try recovery(fixture).recover()
            #expect(fixture.exists(job.source) && !fixture.exists("\(spool)/nobody"))
            // Its work is done, so it lies where it belongs.
            #expect(fixture.exists(lost.source) && !fixture.exists("\(spool)/retry-2"))
            #expect(try fixture.ledger.job(2)?.isOver == true)
        }
    }
}
