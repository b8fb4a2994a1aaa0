import DaemonInterface
import DaemonRuntime
import Dispatch
import Foundation
import JobLedger
import JobModel
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls
import TestTools
import Testing

@testable import JobFlow
@testable import PictureFiles
@testable import Previewing

@Suite("Removing old files of jobs")
struct TidyingTests {
    private struct Fixture {
        let owners: OwnersFixture
        let tidying: Tidying
        var ledger: Ledger { owners.ledger }

        /// Leaves originals of ten bytes in the folder, a minute apart; returns their paths.
        func leave(_ ids: ClosedRange<Int>, _ state: JobState = .failed, in folder: String = "r") async throws
            -> [String]
        {
            var paths: [String] = []
            for id in ids {
                let place = owners.places.folder(
                    of: state == .done ? .archive : state == .failed ? .failed : .cancelled)
                let path = "\(place)/\(folder)/\(id).png"
                let job = try owners.ended(id, state, at: path, "0123456789")
                if state == .failed { try owners.write("words", to: path + ".error.txt") }
                #expect(owners.insert([job]))
                let kept = KeptMarks(recipe: folder, path: path, file: job.file)
                ledger.recordDisposal(of: [(id, path)], keeping: [id: kept]) {}
                #expect(ledger.flush(seconds: 30))
                paths.append(path)
            }
            for id in ids { try await age(id, 60 * (100 - id)) }
            return paths
        }

        /// Changes the recorded time of a job's file to `seconds` ago.
        func age(_ job: Int, _ seconds: Int) async throws {
            try await sql("UPDATE kept SET time = \(Timestamp.now() - Double(seconds)) WHERE job = \(job)")
        }

        func sql(_ statement: String) async throws {
            let script = "import sqlite3, sys\nwith sqlite3.connect(sys.argv[1]) as l: l.execute(sys.argv[2])"
            let outcome = try await Python.run(script, owners.places.ledger, statement)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }

        func run(
            _ place: KeptPlace = .failed, before: Double? = nil, most: Int? = nil, recipe: String? = nil
        ) throws -> CleanOutcome {
            var wish = CleanWish(place: place, before: before, most: most, recipe: recipe, by: "test", isTrial: true)
            let trial = try tidying.run(wish)
            wish.isTrial = false
            let outcome = try tidying.run(wish)
            // The real run removes exactly what the dry run counted.
            #expect(
                (trial.files, trial.bytes, trial.oldest, trial.newest)
                    == (outcome.files, outcome.bytes, outcome.oldest, outcome.newest))
            return outcome
        }
    }

    private func with(
        patience: Duration = .seconds(600), _ body: (Fixture) async throws -> Void
    ) async throws {
        try await OwnersFixture.with { owners in
            let tidying = Tidying(ledger: owners.ledger, places: owners.places, patience: patience) { _ in }
            try await body(Fixture(owners: owners, tidying: tidying))
        }
    }

    @Test(
        "files on a disk that does not answer stay, however many there are, and the others are removed",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"))
    func silent() async throws {
        try await with(patience: .seconds(10)) { fixture in
            let disk = "\(fixture.owners.places.failed)/slow"
            try await Mount.with(disk, size: "1m") { _ in
                let onDisk = try await fixture.leave(1...30, in: "slow")
                let others = try await fixture.leave(31...32)
                let hang = DispatchSemaphore(value: 0)
                // Occupy all threads of the disk's lane.
                for _ in 1...16 { FileLanes.work(on: disk).async { hang.wait() } }
                let outcome = try fixture.tidying.run(CleanWish(place: .failed, by: "test"))
                #expect(outcome.files == 2 && outcome.refused == 30 && outcome.refusal == "its disk does not answer")
                for _ in 1...16 { hang.signal() }
                while FileLanes.work(on: disk).oldest != nil { await Look.again() }
                #expect(onDisk.allSatisfy(fixture.owners.exists) && !others.contains(where: fixture.owners.exists))
                #expect(try fixture.run().files == 30)
            }
        }
    }

    @Test("files older than a time go, with their explanations and empty folders; the row says who removed them")
    func age() async throws {
        try await with { fixture in
            let paths = try await fixture.leave(1...3)
            try await fixture.age(3, 10)
            let outcome = try fixture.run(before: Timestamp.now() - 1000)
            #expect(outcome.files == 2 && outcome.bytes == 20 && outcome.refused == 0)
            #expect(paths.map(fixture.owners.exists) == [false, false, true])
            #expect(paths.map { fixture.owners.exists($0 + ".error.txt") } == [false, false, true])
            #expect(try fixture.ledger.job(1)?.removed?.by == "test" && fixture.ledger.job(3)?.removed == nil)
            #expect(try fixture.ledger.keptSums()[.failed] == fixture.ledger.keptSum(in: .failed, of: "r"))
            #expect(try fixture.run().files == 1)
            #expect(!fixture.owners.exists("\(fixture.owners.places.failed)/r"))
            #expect(fixture.owners.exists(fixture.owners.places.failed))
        }
    }

    @Test(
        "the oldest files are removed until the size limit is met, and not one file more",
        arguments: [(30, 0), (29, 1), (20, 1), (19, 2), (0, 3)])
    func size(most: Int, gone: Int) async throws {
        try await with { fixture in
            let paths = try await fixture.leave(1...3, .done)
            #expect(try fixture.run(.archive, most: most).files == gone)
            #expect(paths.map(fixture.owners.exists) == (1...3).map { $0 > gone })
        }
    }

    @Test("a file is removed if the time or size limit requires it; with a recipe, only that recipe's files count")
    func both() async throws {
        try await with { fixture in
            _ = try await fixture.leave(1...2, .cancelled, in: "a")
            _ = try await fixture.leave(3...5, .cancelled, in: "b")
            #expect(try fixture.run(.cancelled, before: Timestamp.now() - 97 * 60 - 30, recipe: "b").files == 0)
            #expect(
                try fixture.run(.cancelled, before: Timestamp.now() - 98 * 60 - 30, most: 10, recipe: "a").files == 1)
            #expect(
                try fixture.run(.cancelled, before: Timestamp.now() - 96 * 60 - 30, most: 10, recipe: "b").files == 2)
            #expect(try fixture.ledger.keptSum(in: .cancelled, of: nil).files == 2)
        }
    }

    @Test(
        "a changed or replaced file, a link, or a file that lies elsewhere stays and is forgotten"
    )
    func strangers() async throws {
        try await with { fixture in
            let paths = try await fixture.leave(1...5)
            let elsewhere = "\(fixture.owners.places.data)/elsewhere.png"
            try fixture.owners.write("0123456789 and more", to: paths[0])
            try FileManager.default.removeItem(atPath: paths[1])
            try fixture.owners.write("9876543210", to: paths[1])
            try FileManager.default.moveItem(atPath: paths[2], toPath: elsewhere)
            try FileManager.default.createSymbolicLink(atPath: paths[2], withDestinationPath: elsewhere)
            try FileManager.default.removeItem(atPath: paths[3])
            try await fixture.sql("UPDATE kept SET path = '\(elsewhere)' WHERE job = 5")
            #expect(try fixture.run().files == 0)
            #expect(paths.map { (try? FileSystem.exists($0)) == true } == [true, true, true, false, true])
            #expect(fixture.owners.exists(elsewhere))
            #expect(try fixture.ledger.keptSums() == [:])
            #expect(try fixture.ledger.jobs(Array(1...5)).map(\.removed) == [nil, nil, nil, nil, nil])
        }
    }

    @Test("a file whose disk may not be mounted is not forgotten, and does not cost a newer file its place")
    func unmounted() async throws {
        try await with { fixture in
            let paths = try await fixture.leave(1...2)
            try FileManager.default.removeItem(atPath: paths[0])
            try await fixture.sql("UPDATE kept SET device = device + 1 WHERE job = 1")
            #expect(try fixture.run(most: 10).files == 0)
            #expect(fixture.owners.exists(paths[1]))
            #expect(try fixture.ledger.keptSum(in: .failed, of: nil).files == 2)
        }
    }

    @Test("a restored file is removed, although it has another inode")
    func restored() async throws {
        try await with { fixture in
            let paths = try await fixture.leave(1...1)
            try await fixture.sql("UPDATE kept SET inode = inode + 1, device = device + 1")
            #expect(try fixture.run().files == 1)
            #expect(!fixture.owners.exists(paths[0]))
        }
    }

    @Test(
        "a removal that a crash interrupted is finished, before the file went and after", arguments: [false, true])
    func brokenOff(isGone: Bool) async throws {
        try await with { fixture in
            let paths = try await fixture.leave(1...2)
            let files = try fixture.ledger.kept(in: .failed, of: nil, after: .start, limit: 1)
            _ = fixture.ledger.begin(removing: files, JobRecord.Removal(by: "Keep Failed=1d", time: 5000))
            if isGone { try FileManager.default.removeItem(atPath: paths[0]) }
            try fixture.tidying.goOn()
            #expect(paths.map(fixture.owners.exists) == [false, true])
            #expect(try fixture.ledger.leavingFiles().isEmpty)
            #expect(try fixture.ledger.job(1)?.removed?.by == "Keep Failed=1d")
            #expect(try fixture.ledger.keptSum(in: .failed, of: nil).files == 1)
        }
    }

    @Test("the start finishes a removal that a crash interrupted, even without a rule; a dry run does not")
    func brokenOffAtStart() async throws {
        try await with { fixture in
            let paths = try await fixture.leave(1...2)
            func breakOff() throws {
                let files = try fixture.ledger.kept(in: .failed, of: nil, after: .start, limit: 1)
                #expect(fixture.ledger.begin(removing: files, JobRecord.Removal(by: "a hand", time: 5000))?.count == 1)
            }
            try breakOff()
            _ = try fixture.tidying.run(CleanWish(place: .archive, by: "test", isTrial: true))
            #expect(paths.map(fixture.owners.exists) == [true, true])
            _ = try fixture.tidying.run(CleanWish(place: .archive, by: "test"))
            #expect(paths.map(fixture.owners.exists) == [false, true])
            try breakOff()
            try Coordination.sync { try fixture.owners.owners.keeping.begin() }
            try await fixture.owners.until { try fixture.ledger.leavingFiles().isEmpty }
            #expect(paths.map(fixture.owners.exists) == [false, false])
        }
    }

    @Test("each removed file is reported, and its folder is made durable")
    func told() async throws {
        try await with { fixture in
            let paths = try await fixture.leave(1...2)
            try await fixture.age(2, 10)
            let told = Mutex<[String]>([])
            let tidying = Tidying(ledger: fixture.ledger, places: fixture.owners.places) { path in
                told.withLock { $0.append(path) }
            }
            let synced = try await Syncs.below(fixture.owners.places.failed) {
                _ = try tidying.run(CleanWish(place: .failed, before: Timestamp.now() - 1000, by: "test"))
            }
            #expect(told.withLock { $0 } == [paths[0]])
            #expect(synced == ["r"])
        }
    }

    @Test("room beside the ledger is reserved before anything is removed; a start keeps it while the disk has room")
    func reserve() async throws {
        try await with { fixture in
            let path = fixture.owners.places.reserve
            #expect(!fixture.owners.exists(path))
            try fixture.tidying.goOn()
            #expect(try FileSystem.status(path)?.size == 4 << 20)
            LedgerReserve.give(toStartOf: fixture.owners.places)
            #expect(fixture.owners.exists(path))
        }
    }

    @Test("arriving files are examined if a rule may remove them")
    func came() async throws {
        try await OwnersFixture.with("[Keep]\nFailed=1d\n") { owners in
            let tidying = Tidying(ledger: owners.ledger, places: owners.places) { _ in }
            let fixture = Fixture(owners: owners, tidying: tidying)
            let paths = try await fixture.leave(1...1)
            try await fixture.age(1, 100_000)
            Coordination.sync { owners.owners.keeping.came() }
            while owners.exists(paths[0]) { await Look.again() }
            try await owners.until { try owners.ledger.keptSums() == [:] }
        }
    }

    @Test("a file that can't be removed stays known, with the reason, and does not hold up others")
    func refused() async throws {
        try await with { fixture in
            let paths = try await fixture.leave(1...2)
            // A folder in place of the error text can't be removed as a file.
            try FileManager.default.removeItem(atPath: paths[0] + ".error.txt")
            try FileManager.default.createDirectory(
                atPath: paths[0] + ".error.txt", withIntermediateDirectories: true)
            let outcome = try fixture.tidying.run(CleanWish(place: .failed, by: "test"))
            #expect(outcome.files == 1 && outcome.refused == 1)
            #expect(outcome.refusal?.contains("unlink") == true)
            #expect(paths.map(fixture.owners.exists) == [true, false])
            #expect(try fixture.ledger.job(1)?.removed == nil)
            #expect(try fixture.ledger.keptSum(in: .failed, of: nil).files == 1)
        }
    }

    @Test("files stay when the ledger refuses to record their removal, with a message")
    func unrecorded() async throws {
        try await with { fixture in
            let paths = try await fixture.leave(1...2)
            try await fixture.sql(
                "CREATE TRIGGER refusal BEFORE UPDATE OF leaving ON kept BEGIN SELECT RAISE(ABORT, 'no'); END")
            let outcome = try fixture.tidying.run(CleanWish(place: .failed, by: "test"))
            #expect(outcome.files == 0 && outcome.refused == 2)
            #expect(outcome.refusal?.hasPrefix("the ledger could not record the removal") == true)
            #expect(paths.map(fixture.owners.exists) == [true, true])
            #expect(try fixture.ledger.keptSum(in: .failed, of: nil).files == 2)
        }
    }
}
