import DaemonRuntime
import JobLedger
import JobModel
import PictureFiles
import PipelineModel
import ServiceProgram
import SystemCalls
import TestTools
import Testing

@testable import InboxWatching
@testable import JobFlow

@Suite("The intake of jobs")
struct JobIntakeTests {
    private static let recipe = "[Inbox]\nSettle=0\n[Output]\nChain=save\n"

    /// Runs `body` with an open inbox.
    private func with(_ body: (OwnersFixture, _ inbox: String) async throws -> Void) async throws {
        try await OwnersFixture.with(recipe: Self.recipe) { (fixture: OwnersFixture) async throws -> Void in
            Coordination.sync { fixture.owners.inboxes.open(adopting: true, into: fixture.owners.intake) }
            await withCheckedContinuation { continuation in fixture.owners.whenOpen { continuation.resume() } }
            try await body(fixture, "\(fixture.places.inbox)/r")
        }
    }

    @Test("a file in an inbox becomes a job of the inbox's recipe, is counted, and enters the window")
    func file() async throws {
        try await with { (fixture, inbox) async throws in
            try fixture.write("picture", to: "\(inbox)/trip/a.png")
            await fixture.until { fixture.owners.jobs.ids == [1] }
            let job = try #require(try fixture.ledger.job(1))
            #expect(job.path == "trip/a.png" && job.origin == .claimed && job.order.recipe == "r")
            #expect(job.source.hasPrefix("\(inbox)/.pipelined/") && fixture.exists(job.source))
            #expect(fixture.count(.queued) == 1)
            let intake = Coordination.sync { fixture.owners.intake }
            #expect(try intake.knows(source: job.source) && intake.needsClaims(in: inbox))
        }
    }

    @Test("a list of URLs becomes a batch in one step; invalid lines become failed jobs, and the list is archived")
    func list() async throws {
        try await with { (fixture, inbox) async throws in
            try fixture.write("http://127.0.0.1:1/a.png\nnonsense\nhttp://127.0.0.1:1/b.png\n", to: "\(inbox)/l.urls")
            try await fixture.until { try fixture.ledger.job(1)?.disposed == true }
            let jobs = try fixture.ledger.jobs([1, 2, 3, 4])
            #expect(jobs.map(\.path) == ["l.urls", "a.png", "l.urls line 2", "b.png"])
            #expect(jobs.map(\.batch) == [nil, 1, 1, 1])
            #expect(jobs[0].state == .done && jobs[2].state == .failed && jobs[0].isList && !jobs[1].isList)
            #expect(jobs[0].reason == "a list of 2 URLs, batch 1; 1 line is no URL")
            #expect(fixture.exists("\(fixture.places.archive)/r/l.urls"))
            Coordination.sync {
                #expect(fixture.owners.jobs.counts[.failed] == 1 && fixture.owners.jobs.counts[.done] == 1)
                #expect(fixture.owners.jobs.counts.unended == 2)
            }
        }
    }

    @Test("cancel-all turns a picture or list that was claimed before it into a cancelled job, and counts it")
    func cancelled() async throws {
        try await with { (fixture, folder) async throws in
            let gate = Gate()
            let (inbox, intake) = try Coordination.sync {
                (try #require(fixture.owners.inboxes.inbox(of: "r")), fixture.owners.intake)
            }
            let claims = ["a.png", "l.urls"].map { name in
                Claim(path: name, source: "\(folder)/\(name)", isKept: true, file: .none, cancelled: false, owner: 0)
            }
            // The inbox is blocked until the gate opens, so these files are not recorded yet.
            inbox.afterwards { gate.wait() }
            let cancelled = await withCheckedContinuation { continuation in
                inbox.catchUp(cancelling: .all, wanted: { true }) { continuation.resume(returning: $0) }
                intake.accept(claims, from: inbox, counted: {}, done: { gate.open() })
            }
            #expect(cancelled == 2)
            #expect(try fixture.ledger.jobs([1, 2, 3]).map(\.state) == [.cancelled, .cancelled])
            #expect(!inbox.cancels(claimed: "later.png"))
        }
    }

    @Test("a list without any URL fails, with the reason")
    func emptyList() async throws {
        try await with { (fixture, inbox) async throws in
            try fixture.write("# nothing\n", to: "\(inbox)/l.urls")
            try await fixture.until { try fixture.ledger.job(1)?.disposed == true }
            let job = try #require(try fixture.ledger.job(1))
            #expect(job.state == .failed && job.error?.hasPrefix("the list ") == true)
            #expect(try fixture.ledger.batches([1]).isEmpty)
        }
    }

    @Test("a record that the ledger refuses is left out alone, and is not counted")
    func refused() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            #expect(fixture.insert([fixture.job(1)]))
            let order = fixture.job(1).order
            await withCheckedContinuation { continuation in
                Coordination.async {
                    let owners = fixture.owners
                    owners.jobs.begin(after: (id: 1, position: 1, batch: 0))
                    var records = (2...4).map { id in
                        owners.intake.newRecord(
                            order: order, path: "\(id).png", source: "/\(id)", origin: .spooled, file: .none, at: 1000)
                    }
                    #expect(records.map(\.id) == [2, 3, 4])
                    // The ledger already contains this row.
                    records[1].id = 1
                    owners.intake.enter(records, done: { continuation.resume() })
                    #expect(owners.jobs.counts[.queued] == 4)
                }
            }
            await fixture.until { fixture.owners.jobs.counts[.queued] == 3 }
            #expect(try fixture.ledger.queued(limit: 9).map(\.id) == [1, 2, 4])
        }
    }
}
