import DaemonInterface
import DaemonRuntime
import Foundation
import InboxWatching
import JobModel
import PipelineModel
import ServiceProgram
import SystemCalls
import Testing

@testable import JobFlow
@testable import JobLedger
@testable import PictureFiles

@Suite("Returns of originals")
struct ReturnsTests {
    private func returns(_ fixture: OwnersFixture) -> Returns {
        let claims = ClaimFolders(root: "r")
        return Returns(OriginalPlaces(ledger: fixture.ledger, places: fixture.places, claims: claims), Publisher())
    }

    private func takeBack(_ wanted: [Returns.Wanted], _ returns: Returns) -> Returns.Outcome {
        returns.takeBack(returns.prepare(wanted))
    }

    /// Returns a failed job that is over. Its original lies in failed/.
    private func failed(_ id: Int, _ fixture: OwnersFixture) throws -> JobRecord {
        var job = try fixture.ended(id, .failed, at: "\(fixture.places.failed)/r/\(id).png")
        job.disposed = true
        return job
    }

    @Test(
        "an original is brought back to the start with a new order, and a second caller is told that it is taken")
    func broughtBack() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let (job, returns) = (try failed(1, fixture), returns(fixture))
            let text = Explanation.path(of: job.source)
            try fixture.write("why", to: text)
            #expect(fixture.insert([job]))
            var order = job.order
            order.priority = .high
            let outcome = takeBack([Returns.Wanted(job: job, order: order)], returns)
            let place = Spool.place(bringingBack: 1, as: "1.png", in: fixture.places.spool)
            #expect(outcome.brought.map(\.source) == [place])
            #expect(outcome.brought.first?.order == order)
            #expect(outcome.brought.first?.priority == Priority.high.rank)
            #expect(fixture.exists(place) && !fixture.exists(job.source) && !fixture.exists(text))
            #expect(try fixture.ledger.job(1)?.returns == place)
            let second = takeBack([Returns.Wanted(job: job, order: order)], returns)
            #expect(second.brought.isEmpty && second.lost.isEmpty && second.others == [1])
            #expect(returns.inboxes.isEmpty)
        }
    }

    @Test("jobs of one name are brought back to separate places")
    func sameName() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            var (first, second) = (try failed(1, fixture), try failed(2, fixture))
            let inbox = "\(fixture.places.inbox)/r"
            for folder in [inbox, "\(inbox)/.pipelined"] { try FileSystem.makeFolders(folder, mode: 0o700) }
            (first.path, first.origin, second.path, second.origin) = ("a.png", .claimed, "a.png", .claimed)
            #expect(fixture.insert([first, second]))
            let outcome = takeBack([first, second].map { Returns.Wanted(job: $0, order: $0.order) }, returns(fixture))
            #expect(outcome.lost.isEmpty)
            #expect(outcome.brought.map(\.source) == (0...1).map { "\(inbox)/.pipelined/r/\($0)/a.png" })
            #expect(outcome.brought.map { fixture.exists($0.source) } == [true, true])
        }
    }

    @Test(
        "a place that someone takes meanwhile is theirs: the original gets the next, and the ledger knows it"
    )
    func placeTaken() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            var job = try failed(1, fixture)
            let inbox = "\(fixture.places.inbox)/r"
            for folder in [inbox, "\(inbox)/.pipelined"] { try FileSystem.makeFolders(folder, mode: 0o700) }
            (job.path, job.origin) = ("a.png", .claimed)
            #expect(fixture.insert([job]))
            let returns = returns(fixture)
            let prepared = returns.prepare([Returns.Wanted(job: job, order: job.order)])
            let places = (0...1).map { "\(inbox)/.pipelined/r/\($0)/a.png" }
            try fixture.write("somebody's", to: places[0])
            #expect(returns.takeBack(prepared).brought.map(\.source) == [places[1]])
            #expect(try fixture.ledger.job(1)?.returns == places[1])
            #expect(places.allSatisfy(fixture.exists) && !fixture.exists(job.source))
        }
    }

    @Test("when another caller brings a job back first, the job is theirs and its original stays where it is")
    func othersAtOnce() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let jobs = try (1...2).map { try failed($0, fixture) }
            #expect(fixture.insert(jobs))
            try Database(path: fixture.places.ledger).run(
                """
                CREATE TRIGGER theirs BEFORE UPDATE OF returns ON jobs WHEN old.id = 2
                BEGIN SELECT RAISE(IGNORE); END
                """)
            let outcome = takeBack(jobs.map { Returns.Wanted(job: $0, order: $0.order) }, returns(fixture))
            #expect(outcome.brought.map(\.id) == [1] && outcome.others == [2] && outcome.lost.isEmpty)
            #expect(jobs.map { fixture.exists($0.source) } == [false, true])
        }
    }

    @Test("each inbox reports the jobs that are brought back already")
    func othersOfInboxes() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let first = fixture.job(1)
            var second = fixture.job(2)
            second.order.inbox = "\(fixture.places.inbox)/s"
            #expect(fixture.insert([first, second]))
            let wanted = [first, second].map { Returns.Wanted(job: $0, order: $0.order) }
            let outcome = await withCheckedContinuation { continuation in
                Coordination.async {
                    fixture.owners.originals.bringBack(wanted) { continuation.resume(returning: $0) }
                }
            }
            #expect(outcome.others.sorted() == [1, 2] && outcome.brought.isEmpty && outcome.lost.isEmpty)
        }
    }

    @Test("a missing original is reported as lost, and its job stays over")
    func lost() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let job = try failed(1, fixture)
            #expect(fixture.insert([job]))
            try FileSystem.remove(job.source)
            let outcome = takeBack([Returns.Wanted(job: job, order: job.order)], returns(fixture))
            #expect(outcome.brought.isEmpty && outcome.lost.map(\.job) == [1])
            #expect(try fixture.ledger.job(1)?.isOver == true)
        }
    }

    @Test("a return that a crash interrupted is undone, wherever the original lies")
    func brokenOff() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let (moved, unmoved) = (try failed(1, fixture), try failed(2, fixture))
            #expect(fixture.insert([moved, unmoved]))
            let places = [1, 2].map { "\(fixture.places.spool)/retry-\($0)/\($0).png" }
            let begun = fixture.ledger.begin([
                Ledger.Return(job: 1, place: places[0], state: .failed, file: moved.file),
                Ledger.Return(job: 2, place: places[1], state: .failed, file: unmoved.file),
            ])
            #expect(begun == [1, 2])
            try FileSystem.makeFolders(FileSystem.folder(of: places[0]))
            try FileSystem.renameWithoutReplacing(moved.source, places[0])

            let returns = returns(fixture)
            try returns.begin()
            #expect(returns.inboxes == [moved.order.inbox])
            let (ended, lost) = try returns.end(in: moved.order.inbox)
            #expect(ended == [1, 2] && lost.isEmpty && returns.inboxes.isEmpty)
            // The first original has to be moved back; the second was never moved.
            let rows = try fixture.ledger.jobs([1, 2])
            #expect(rows.map(\.source) == [places[0], unmoved.source])
            #expect(rows.map(\.isOver) == [false, true])
            #expect(rows.allSatisfy { $0.returns == nil })
        }
    }

    @Test("a client that waits for a job is told that it is over when the start undoes its return")
    func waitedFor() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let job = try failed(1, fixture)
            #expect(fixture.insert([job]))
            let place = Spool.place(bringingBack: 1, as: "1.png", in: fixture.places.spool)
            let back = Ledger.Return(job: 1, place: place, state: .failed, file: job.file)
            #expect(fixture.ledger.begin([back]) == [1])
            await withCheckedContinuation { continuation in
                Coordination.async {
                    fixture.owners.waiters.wait(for: [1], Waiter(each: { _ in }, done: { continuation.resume() }))
                    #expect(throws: Never.self) { try fixture.owners.originals.begin() }
                }
            }
            #expect(try fixture.ledger.job(1)?.isOver == true)
            #expect(fixture.exists(job.source))
        }
    }

    @Test("an original that its user has repaired is found after a crash during its return")
    func mended() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let job = try failed(1, fixture)
            #expect(fixture.insert([job]))
            // Editors save a new file under another name, and rename it.
            try fixture.write("mended, and longer than before", to: "\(job.source).new")
            try FileSystem.rename("\(job.source).new", job.source)
            let prepared = returns(fixture).prepare([Returns.Wanted(job: job, order: job.order)])
            let place = try #require(try fixture.ledger.job(1)?.returns)
            try FileSystem.makeFolders(FileSystem.folder(of: place))
            try FileSystem.renameWithoutReplacing(job.source, place)
            withExtendedLifetime(prepared) {}

            let returns = returns(fixture)
            try returns.begin()
            let (ended, lost) = try returns.end(in: job.order.inbox)
            #expect(ended == [1] && lost.isEmpty, "\(lost)")
            // The original still lies at `place`. The job is over only when the original has been moved back to
            // failed/.
            #expect(try fixture.ledger.job(1)?.source == place)
            #expect(try fixture.ledger.job(1)?.isOver == false)
        }
    }

    @Test("a copy that arrived on another disk before a crash leaves no second picture")
    func copied() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let job = try failed(1, fixture)
            #expect(fixture.insert([job]))
            _ = returns(fixture).prepare([Returns.Wanted(job: job, order: job.order)])
            let place = try #require(try fixture.ledger.job(1)?.returns)
            try FileSystem.makeFolders(FileSystem.folder(of: place))
            try FileManager.default.copyItem(atPath: job.source, toPath: place)
            let original = try Descriptor.open(job.source, O_RDONLY)
            try FileSystem.copyTimes(of: original, to: Descriptor.open(place, O_WRONLY))

            let returns = returns(fixture)
            try returns.begin()
            #expect(try returns.end(in: job.order.inbox).lost.isEmpty)
            #expect(fixture.exists(job.source) && !fixture.exists(place))
            #expect(try fixture.ledger.job(1)?.isOver == true)
        }
    }

    @Test("the original of a done job is not brought back when another file has replaced it")
    func exchanged() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            var job = try failed(1, fixture)
            job.state = .done
            #expect(fixture.insert([job]))
            try fixture.write("another picture altogether", to: job.source)
            let outcome = takeBack([Returns.Wanted(job: job, order: job.order, states: [.done])], returns(fixture))
            #expect(outcome.brought.isEmpty && outcome.lost.map(\.job) == [1])
            #expect(fixture.exists(job.source))
            #expect(try fixture.ledger.job(1)?.returns == nil)
        }
    }

    @Test("a return whose disk does not answer is undone when it does")
    func later() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            var job = try failed(1, fixture)
            job.origin = .claimed
            let inbox = job.order.inbox
            #expect(fixture.insert([job]))
            #expect(
                fixture.ledger.begin([
                    Ledger.Return(job: 1, place: "\(inbox)/.pipelined/r/0/1.png", state: .failed, file: .none)
                ])
                    == [1])
            let returns = returns(fixture)
            try returns.begin()
            // The inbox is missing for now.
            #expect(try returns.end(in: inbox).lost.map(\.job.id) == [1])
            #expect(returns.inboxes == [inbox])
            for folder in [inbox, "\(inbox)/.pipelined"] { try FileSystem.makeFolders(folder, mode: 0o700) }
            #expect(try returns.end(in: inbox).lost.isEmpty)
            #expect(returns.inboxes.isEmpty)
            #expect(try fixture.ledger.job(1)?.isOver == true)
        }
    }
}
