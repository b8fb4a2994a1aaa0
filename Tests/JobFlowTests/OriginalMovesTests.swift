import DaemonRuntime
import Dispatch
import Foundation
import Glibc
import InboxWatching
import JobLedger
import JobModel
import PipelineModel
import ServiceProgram
import SystemCalls
import TestTools
import Testing

@testable import JobFlow
@testable import PictureFiles

@Suite("Moves of originals")
struct OriginalMovesTests {
    private func with(
        _ body: (OwnersFixture, OriginalMoves, StuckOriginals) async throws -> Void
    ) async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let (moves, stuck) = fixture.moves()
            try await body(fixture, moves, stuck)
        }
    }

    @Test("each original is moved once, and the folders that it leaves empty are removed")
    func once() async throws {
        try await with { (fixture, moves, _) async throws in
            let folder = "\(fixture.places.spool)/1"
            let job = try fixture.ended(1, .cancelled, at: "\(folder)/1.png")
            #expect(fixture.insert([job]))
            let recording = Gate()
            fixture.ledger.whenDurable { recording.wait() }
            let another = "\(fixture.places.state)/another"
            #expect(link(job.source, another) == 0)
            #expect(moves.move([job], of: job.order.inbox).isEmpty)
            #expect(!fixture.exists(folder))
            // The original was moved, but the move is not recorded yet. A file that now appears at the old path does
            // not belong to the job.
            try FileSystem.makeFolders(folder)
            #expect(link(another, job.source) == 0)
            #expect(moves.move([job], of: job.order.inbox).isEmpty)
            #expect(fixture.exists(job.source))
            recording.open()
            #expect(fixture.ledger.flush(seconds: 30))
            #expect(fixture.exists("\(fixture.places.cancelled)/r/1.png"))
            #expect(try fixture.ledger.job(1)?.isOver == true)
            #expect(try fixture.ledger.job(1)?.source == "\(fixture.places.cancelled)/r/1.png")
        }
    }

    @Test("an original that leaves the archive takes the folders that become empty along, which is reported")
    func fromArchive() async throws {
        try await with { (fixture, moves, _) async throws in
            var job = try fixture.ended(1, .cancelled, at: "\(fixture.places.archive)/r/album/1.png")
            job.path = "album/1.png"
            #expect(fixture.insert([job]))
            let (arrivals, listener) = fixture.listen()
            Coordination.sync { moves.delegate = listener }
            #expect(moves.move([job], of: job.order.inbox).isEmpty)
            for await _ in arrivals { break }
            withExtendedLifetime(listener) {}
            #expect(fixture.exists("\(fixture.places.cancelled)/r/album/1.png"))
            #expect(!fixture.exists("\(fixture.places.archive)/r") && fixture.exists(fixture.places.archive))
        }
    }

    @Test("an original that should be removed but whose folder is gone no longer holds up its job")
    func goneWithItsFolder() async throws {
        try await with { (fixture, moves, stuck) async throws in
            var job = fixture.job(1, .done)
            job.finished = 2000
            #expect(fixture.insert([job]))
            #expect(moves.move([job], of: job.order.inbox).isEmpty)
            #expect(fixture.ledger.flush(seconds: 30))
            #expect(try fixture.ledger.job(1)?.isOver == true && stuck.reason(for: 1) == nil)
        }
    }

    @Test("an original that can't be moved is reported once, stays, and is moved when that is possible")
    func stays() async throws {
        try await with { (fixture, moves, stuck) async throws in
            let job = try fixture.ended(1, .failed, at: "\(fixture.places.spool)/1/1.png")
            #expect(fixture.insert([job]))
            // A file occupies the name of the folder that the original should move to.
            try fixture.write("", to: "\(fixture.places.failed)/r")
            for _ in 1...2 {
                #expect(moves.move([job], of: job.order.inbox) == [1])
                let reason = try #require(stuck.reason(for: 1))
                #expect(reason.hasPrefix("its original stays at \(job.source): "))
                #expect(try fixture.texts("job", of: 1) == [reason])
            }
            #expect(try fixture.ledger.job(1)?.isOver == false)
            try FileSystem.remove("\(fixture.places.failed)/r")
            #expect(moves.move([job], of: job.order.inbox) == [])
            #expect(stuck.reason(for: 1) == nil)
            let place = "\(fixture.places.failed)/r/1.png"
            #expect(try fixture.texts("job", of: 1).last == "its original could be moved now, to \(place)")
            #expect(fixture.exists(place) && fixture.exists(Explanation.path(of: place)))
        }
    }

    @Test(
        "an original that moved before a crash is found under its number, even if lower numbers are free again",
        arguments: [".png", "-9.png"], [1, 7, 1234])
    func movedBefore(ending: String, number: Int) async throws {
        try await with { (fixture, moves, stuck) async throws in
            let folder = "\(fixture.places.cancelled)/r"
            var job = try fixture.ended(1, .cancelled, at: "\(fixture.places.spool)/1/1.png")
            job.path = "1\(ending)"
            #expect(fixture.insert([job]))
            let place = ResultName.numbered("\(folder)/\(job.path)", number)
            try FileSystem.makeFolders(folder)
            #expect(rename(job.source, place) == 0)
            for other in ["1.jpg", "2\(ending)", "1-x.png", "11\(ending)"] {
                try fixture.write("other", to: "\(folder)/\(other)")
            }
            #expect(moves.move([job], of: job.order.inbox).isEmpty)
            #expect(fixture.ledger.flush(seconds: 30))
            #expect(try fixture.ledger.job(1)?.source == place)
            #expect(stuck.reason(for: 1) == nil)
        }
    }

    @Test("of two equal files, the claimed one is the original")
    func copyBesideIt() async throws {
        try await with { (fixture, moves, _) async throws in
            let folder = "\(fixture.places.cancelled)/r"
            let job = try fixture.ended(1, .cancelled, at: "\(fixture.places.spool)/1/1.png")
            #expect(fixture.insert([job]))
            try FileSystem.makeFolders(folder)
            #expect(rename(job.source, "\(folder)/1-2.png") == 0)
            for copy in ["1.png", "1-1.png", "1-3.png"] {
                try FileManager.default.copyItem(atPath: "\(folder)/1-2.png", toPath: "\(folder)/\(copy)")
            }
            #expect(moves.move([job], of: job.order.inbox).isEmpty)
            #expect(fixture.ledger.flush(seconds: 30))
            #expect(try fixture.ledger.job(1)?.source == "\(folder)/1-2.png")
        }
    }

    @Test("a job is over if its original was in a deleted inbox, but not while the original's disk may be unmounted")
    func deletedInbox() async throws {
        try await with { (fixture, moves, stuck) async throws in
            let inbox = "\(fixture.places.inbox)/r"
            var (here, away) = (
                try fixture.ended(1, .done, at: "\(inbox)/.pipelined/root/0/1.png"),
                try fixture.ended(2, .done, at: "\(inbox)/.pipelined/root/0/2.png")
            )
            (here.origin, away.origin) = (.claimed, .claimed)
            // Change the original's device number, as if the original lay on another disk than the inbox.
            away.file.device += 1
            #expect(fixture.insert([here, away]))
            try FileManager.default.removeItem(atPath: inbox)
            #expect(moves.move([here, away], of: inbox) == [2])
            #expect(fixture.ledger.flush(seconds: 30))
            #expect(try fixture.ledger.job(1)?.isOver == true && fixture.ledger.job(2)?.isOver == false)
            #expect(stuck.reason(for: 1) == nil && stuck.reason(for: 2)?.contains("No such file") == true)
        }
    }

    @Test("where an earlier original has the name of a picture's folder, the folder gets a number")
    func fileInTheWay() async throws {
        try await with { (fixture, moves, _) async throws in
            let first = try fixture.ended(1, .cancelled, at: "\(fixture.places.spool)/1/1.png")
            var second = try fixture.ended(2, .cancelled, at: "\(fixture.places.spool)/2/2.png")
            second.path = "1.png/2.png"
            #expect(fixture.insert([first, second]))
            #expect(moves.move([first], of: first.order.inbox).isEmpty)
            #expect(moves.move([second], of: second.order.inbox).isEmpty)
            #expect(fixture.exists("\(fixture.places.cancelled)/r/1.png"))
            #expect(fixture.exists("\(fixture.places.cancelled)/r/1-1.png/2.png"))
        }
    }

    @Test("a move that hangs is reported once, and holds up the ended jobs of its inbox only")
    func hangs() async throws {
        try await with { (fixture, moves, _) async throws in
            let job = try fixture.ended(1, .failed, at: "\(fixture.places.spool)/1/1.png")
            var (behind, elsewhere) = (fixture.job(2, .done), fixture.job(4, .done))
            (behind.finished, elsewhere.finished) = (2000, 2000)
            elsewhere.order.inbox = "\(fixture.places.inbox)/s"
            #expect(fixture.insert([job, behind, fixture.job(3), elsewhere]))
            try await fixture.whileHanging(moves, job) { () async throws in
                Coordination.sync {
                    #expect(moves.areUnderWay)
                    moves.lookForHangs(since: .now() - .seconds(3600))
                    #expect(moves.hangText(among: nil) == nil)
                    for _ in 1...2 { moves.lookForHangs(since: .now()) }
                    let text = moves.hangText(among: nil)
                    #expect(text?.hasPrefix("job 1: its original is being moved from \(job.source)") == true)
                    #expect([[1], [2], [3], [4]].map { moves.hangText(among: $0) } == [text, text, nil, nil])
                }
                #expect(try fixture.texts("job", of: 1).count == 1)
            }
            Coordination.sync {
                #expect(!moves.areUnderWay)
                #expect(moves.hangText(among: nil) == nil)
            }
        }
    }

    @Test("originals that stay are retried until none is left; one that is brought back is forgotten")
    func triedAgain() async throws {
        try await with { (fixture, _, stuck) async throws in
            let (tries, tried) = AsyncStream<Void>.makeStream()
            Coordination.sync { stuck.tryAgain = { tried.yield() } }
            for id in 1...3 { stuck.add(fixture.job(id, .done), because: "reason \(id)") }
            for await _ in tries { break }
            Coordination.sync {
                #expect(stuck.text(among: nil) == "job 1: reason 1; this is tried again (and 2 more)")
                #expect(stuck.text(among: [2, 9]) == "job 2: reason 2; this is tried again")
                stuck.forget([1])
                #expect(stuck.reason(for: 1) == nil)
                stuck.keep([], of: "/another")
                #expect(stuck.text(among: nil) == "job 2: reason 2; this is tried again (and 1 more)")
                stuck.keep([3], of: fixture.job(1).order.inbox)
                #expect(stuck.text(among: nil) == "job 3: reason 3; this is tried again")
            }
            for await _ in tries { break }
        }
    }
}

extension OwnersFixture {
    /// Creates owners that a test can query. The corresponding owners of the fixture can't be queried.
    func moves() -> (OriginalMoves, StuckOriginals) {
        Coordination.sync {
            let stuck = StuckOriginals(ledger)
            let moves = OriginalMoves(ledger, places, ClaimFolders(root: "r"), Publisher(), stuck)
            (moves.delegate, stuck.delegate) = (owners, owners)
            return (moves, stuck)
        }
    }

    /// Runs `body` while the original of a failed job is being moved. The move hangs because it writes the job's
    /// explanation to a pipe, which nobody reads until `body` has returned.
    func whileHanging(
        _ moves: OriginalMoves, _ job: JobRecord, _ body: () async throws -> Void
    ) async throws {
        let pipe = Explanation.path(of: "\(places.failed)/r/\(job.id).png") + ".new"
        try FileSystem.makeFolders(FileSystem.folder(of: pipe))
        try #require(mkfifo(pipe, 0o600) == 0)
        let moved = DispatchGroup()
        DispatchQueue(label: "test").async(group: moved) { moves.move([job], of: job.order.inbox) }
        await until { moves.areUnderWay }
        let result = await Result { try await body() }
        let reader = try Descriptor.open(pipe, O_RDONLY)
        await withCheckedContinuation { continuation in moved.notify(queue: .main) { continuation.resume() } }
        withExtendedLifetime(reader) {}
        try result.get()
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
