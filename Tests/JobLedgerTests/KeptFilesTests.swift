import JobModel
import PipelineModel
import SystemCalls
import TestTools
import Testing

@testable import JobLedger

@Suite("Files that jobs have left")
struct KeptFilesTests {
    private func with(_ body: (Ledger, Database) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/ledger.sqlite"
            try body(try Ledger(path: path), try Database(path: path))
        }
    }

    private func leave(_ id: Int, _ state: JobState, bytes: Int, in ledger: Ledger) {
        var ended = job(id, state)
        ended.finished = 1000
        ledger.insert([ended])
        let file = FileStatus.Identity(device: 1, inode: id, size: bytes, modified: 20)
        let kept = KeptMarks(recipe: "r", path: "/\(state)/\(id).png", file: file)
        ledger.recordDisposal(of: [(id, "/\(state)/\(id).png")], keeping: [id: kept]) {}
        #expect(ledger.flush(seconds: 30))
    }

    @Test(
        "the number and size of files are known without counting, as they arrive, return, and are removed or forgotten")
    func sums() throws {
        try with { (ledger, _) throws in
            leave(1, .done, bytes: 100, in: ledger)
            leave(2, .done, bytes: 20, in: ledger)
            leave(3, .failed, bytes: 7, in: ledger)
            leave(4, .cancelled, bytes: 5, in: ledger)
            let sum = Ledger.KeptSum.init(files:bytes:)
            #expect(try ledger.keptSums() == [.archive: sum(2, 120), .failed: sum(1, 7), .cancelled: sum(1, 5)])
            #expect(try ledger.keptSum(in: .archive, of: "r") == sum(2, 120))
            #expect(try ledger.keptSum(in: .archive, of: "other") == sum(0, 0))
            // Retry the failed job.
            ledger.requeue([try #require(try ledger.job(3))]) {}
            // `forget` deletes the jobs' rows, but the ledger still lists their files.
            ledger.forget(allBut: 0, endedBefore: 1e12) { _ in }
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.keptSums() == [.archive: sum(2, 120), .cancelled: sum(1, 5)])
            let first = try #require(try ledger.kept(in: .archive, of: nil, after: .start, limit: 1).first)
            #expect(first.job == 1 && first.file.size == 100)
            ledger.forget(kept: [first])
            #expect(try ledger.keptSums()[.archive] == sum(1, 20))
        }
    }

    @Test(
        "an original that was taken from its place and dropped there again counts once, as a new file"
    )
    func again() throws {
        try with { (ledger, database) throws in
            leave(1, .done, bytes: 100, in: ledger)
            try database.run("UPDATE kept SET time = 1")
            var second = job(2, .done)
            second.finished = 1000
            ledger.insert([second])
            let file = FileStatus.Identity(device: 1, inode: 77, size: 100, modified: 20)
            let kept = KeptMarks(recipe: "r", path: "/done/1.png", file: file)
            ledger.recordDisposal(of: [(2, "/done/1.png")], keeping: [2: kept]) {}
            #expect(ledger.flush(seconds: 30))
            let files = try ledger.kept(in: .archive, of: nil, after: .start, limit: 10)
            #expect(files.map(\.job) == [2] && files.allSatisfy { $0.time > 1 })
            #expect(try ledger.keptSums()[.archive] == Ledger.KeptSum(files: 1, bytes: 100))
        }
    }

    @Test("forgetting a job by hand forgets its file as well, except for jobs that are not over or are exempt")
    func forgotten() throws {
        try with { (ledger, _) throws in
            leave(1, .failed, bytes: 100, in: ledger)
            leave(2, .failed, bytes: 20, in: ledger)
            ledger.insert([job(3)])
            ledger.forget(JobChoice(states: [.failed]), endedBefore: .infinity, except: [2]) {
                #expect($0 == [.failed: 1])
            }
            ledger.forget(JobChoice(ids: [3]), endedBefore: .infinity, except: []) { #expect($0 == [:]) }
            ledger.forget(JobChoice(ids: [2]), endedBefore: 1000, except: []) { #expect($0 == [:]) }
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.jobs([1, 2, 3]).map(\.id) == [2, 3])
            #expect(try ledger.keptSums()[.failed] == Ledger.KeptSum(files: 1, bytes: 20))
        }
    }

    @Test("a file that is being removed can't be brought back, and vice versa")
    func exclusive() throws {
        try with { (ledger, _) throws in
            leave(1, .failed, bytes: 100, in: ledger)
            leave(2, .failed, bytes: 20, in: ledger)
            let files = try ledger.kept(in: .failed, of: nil, after: .start, limit: 10)
            #expect(ledger.begin([Ledger.Return(job: 2, place: "/in/2", state: .failed, file: .none)]) == [2])
            let removal = JobRecord.Removal(by: "Keep Failed=1d", time: 5000)
            #expect(ledger.begin(removing: files, removal) == [files[0].id])
            #expect(ledger.begin([Ledger.Return(job: 1, place: "/in/1", state: .failed, file: .none)]) == [])
            #expect(try ledger.job(1)?.removed == removal)
            #expect(try ledger.leavingFiles().map(\.job) == [1])
            #expect(try ledger.kept(in: .failed, of: nil, after: .start, limit: 10).map(\.job) == [2])
            ledger.abandon(removing: [files[0]])
            #expect(try ledger.job(1)?.removed == nil)
            #expect(ledger.begin([Ledger.Return(job: 1, place: "/in/1", state: .failed, file: .none)]) == [1])
        }
    }

    @Test("IDs of forgotten jobs are not reused after a restart, so no new job gets their files")
    func numbers() throws {
        try withTemporaryFolder { (folder: String) throws -> Void in
            let path = "\(folder)/ledger.sqlite"
            do {
                let ledger = try Ledger(path: path)
                for id in 1...3 { leave(id, .failed, bytes: 100, in: ledger) }
                #expect(try ledger.highest().id == 3)
                ledger.forget(allBut: 0, endedBefore: .infinity) { _ in }
                #expect(ledger.flush(seconds: 30))
                #expect(try ledger.counts()[.failed, default: 0] == 0)
            }
            let ledger = try Ledger(path: path)
            #expect(try ledger.highest().id == 3)
            #expect(try ledger.kept(in: .failed, of: nil, after: .start, limit: 10).map(\.job) == [1, 2, 3])
        }
    }

    @Test("an older ledger's originals are known from its jobs, except deleted ones and those kept in an inbox")
    func migrated() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/ledger.sqlite"
            try {
                let ledger = try Ledger(path: path)
                for (id, state) in [(1, JobState.done), (2, .failed), (3, .done)] {
                    var ended = job(id, state)
                    ended.finished = 1000
                    ledger.insert([ended])
                }
                ledger.recordDisposal(of: [(1, "/archive/r/1.png"), (2, "/failed/r/2.png")]) {}
                // The original was deleted from its claim folder.
                ledger.recordDisposal(of: [(3, "/in/.pipelined/0/3.png")]) {}
                #expect(ledger.flush(seconds: 30))
            }()
            let database = try Database(path: path)
            let step = try #require(Schema.steps.firstIndex { $0.name == "kept files" })
            try database.script(
                """
                DROP TRIGGER original_left; DROP TABLE kept; DROP TABLE kept_sums; ALTER TABLE jobs DROP COLUMN removed;
                """)
            // Run only this step, because the ledger already has the later ones.
            try Schema.steps[step].run(step + 1, on: database)
            let sums: [String] = try database.column(
                "SELECT place || ' ' || files || ' ' || bytes FROM kept_sums ORDER BY place")
            #expect(sums == ["archive 1 10", "failed 1 10"])
        }
    }

    @Test("the oldest files are found through an index, however many there are")
    func plan() throws {
        try with { (_, database) throws in
            let recipe: String? = nil
            let plan = try database.rows(
                """
                EXPLAIN QUERY PLAN SELECT id FROM kept INDEXED BY kept_by_time
                WHERE place = \(KeptPlace.archive) AND (time, id) > (\(1.5), \(2)) AND leaving IS NULL
                    AND (\(recipe) IS NULL OR recipe = \(recipe)) ORDER BY time, id LIMIT \(3)
                """
            ) { try $0["detail"] as String }
            #expect(plan == ["SEARCH kept USING INDEX kept_by_time (place=? AND time>?)"])
        }
    }
}
