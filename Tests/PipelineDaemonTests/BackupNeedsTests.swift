import Foundation
import JobLedger
import JobModel
import PictureFiles
import PipelineModel
import SystemCalls
import TestTools
import Testing

@testable import PipelineDaemon

@Suite("The files that the ledger of a backup needs")
struct BackupNeedsTests {
    /// A daemon's folders, with its ledger.
    private struct Fixture {
        let places: Places
        let ledger: Ledger

        init(in folder: String) throws {
            places = Places.below(folder)
            try places.make()
            ledger = try Ledger(path: places.ledger)
        }

        func job(_ id: Int, _ state: JobState = .queued) -> JobRecord {
            let order = WorkOrder(
                recipe: "r", adHoc: false, outputs: [], original: .archive, conflict: .number,
                outbox: "\(places.outbox)/r", inbox: "\(places.inbox)/r")
            return JobRecord(
                id: id, position: id, batch: nil, order: order, path: "\(id).png", origin: .spooled,
                source: "\(places.spool)/\(id)/\(id).png",
                file: FileStatus.Identity(device: 1, inode: id, size: 10, modified: 20), state: state, created: 1000,
                priority: Priority.normal.rank)
        }
    }

    /// Runs `body` with a backup that contains a copy of the ledger, but no pictures.
    private func with(
        _ job: (Fixture) throws -> JobRecord, _ body: (Fixture, BackupFolder, JobRecord) throws -> Void
    ) async throws {
        try await withTemporaryFolder { (folder: String) async throws -> Void in
            let fixture = try Fixture(in: folder)
            try await withTemporaryFolder { (backup: String) async throws -> Void in
                let job = try job(fixture)
                fixture.ledger.insert([job])
                fixture.ledger.record(job)
                #expect(fixture.ledger.flush(seconds: 60))
                let folder = try BackupFolder(backup, of: fixture.places, watched: [])
                try FileSystem.makeFolders(folder.place(of: fixture.places.state))
                try LedgerView(path: fixture.places.ledger).copy(to: folder.place(of: fixture.places.ledger))
                try body(fixture, folder, job)
            }
        }
    }

    /// Completes the backup; returns the IDs of jobs whose originals can't be found.
    private func complete(_ fixture: Fixture, _ folder: BackupFolder) throws -> [Int] {
        let mirror = Mirror(leaving: [], order: [])
        var needs = try BackupNeeds(
            fixture.places, folder, live: LedgerView(path: fixture.places.ledger), mirror: mirror)
        try needs.complete(try LedgerView(path: folder.place(of: fixture.places.ledger)))
        return needs.late.map(\.job)
    }

    private func write(_ text: String, to path: String) throws {
        try FileSystem.makeFolders(FileSystem.folder(of: path))
        try FileSystem.write(Array(text.utf8), to: path)
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test("an original that arrived after its folder was copied is fetched")
    func came() async throws {
        try await with({ $0.job(7) }) { fixture, folder, job in
            try write("picture", to: job.source)
            #expect(try complete(fixture, folder) == [])
            #expect(try text(folder.place(of: job.source)) == "picture")
        }
    }

    @Test("an original that has moved since is put where its row expects it")
    func moved() async throws {
        try await with({ $0.job(7) }) { fixture, folder, job in
            let archived = "\(fixture.places.archive)/r/7.png"
            try write("picture", to: archived)
            fixture.ledger.record(source: archived, of: 7)
            #expect(fixture.ledger.flush(seconds: 60))
            #expect(try complete(fixture, folder) == [])
            #expect(try text(folder.place(of: job.source)) == "picture")
        }
    }

    @Test(
        "a missing original is reported if its job had not ended, but not if someone removed it from the archive"
    )
    func gone() async throws {
        try await with({ $0.job(7) }) { fixture, folder, _ in
            let late = try complete(fixture, folder)
            #expect(late == [7])
        }
        let ended: (Fixture) throws -> JobRecord = { fixture in
            var job = fixture.job(7, .done)
            (job.source, job.disposed, job.finished) = ("\(fixture.places.archive)/r/7.png", true, 1000)
            return job
        }
        try await with(ended) { fixture, folder, _ in
            let late = try complete(fixture, folder)
            #expect(late == [])
        }
    }

    @Test("a result that was published after its outbox was copied is fetched")
    func result() async throws {
        let done: (Fixture) throws -> JobRecord = { fixture in
            var job = fixture.job(7, .done)
            (job.disposed, job.finished) = (true, 1000)
            job.outputs = [PublishedFile(path: "\(fixture.places.outbox)/r/7.jpg")]
            return job
        }
        try await with(done) { fixture, folder, job in
            try write("result", to: job.outputs[0].path)
            #expect(try complete(fixture, folder) == [])
            #expect(try text(folder.place(of: job.outputs[0].path)) == "result")
        }
    }
}
