import Foundation
import JobModel
import PipelineModel
import TestTools
import Testing

@testable import JobLedger

@Suite("Reading the ledger of the first version")
struct FirstLedgerReadTests {
    /// Runs `body` with a copy of a ledger that the first version wrote.
    private func withCopy(_ body: (String) throws -> Void) throws {
        let file = URL(fileURLWithPath: #filePath).appendingPathComponent("../Fixture/ledger-1.sqlite").standardized
        try withTemporaryFolder { folder in
            let path = "\(folder)/ledger.sqlite"
            try FileManager.default.copyItem(atPath: file.path, toPath: path)
            try body(path)
        }
    }

    @Test("the ledger is migrated, and all its contents are read correctly")
    func read() throws {
        try withCopy { path in
            let ledger = try Ledger(path: path)
            #expect(try ledger.counts() == [.done: 3, .failed: 1, .waiting: 1, .running: 2, .cancelled: 1, .queued: 5])
            #expect(try ledger.pausedQueues() == ["render": "the ledger of version 1 is made"])
            #expect(try ledger.highest() == (13, 13, 1))
            let jobs = try ledger.list(JobFilter(), after: 0, limit: 100)
            #expect(jobs.map(\.order.recipe).prefix(4) == ["kept", "noir", "noir", "noir"])
            #expect(jobs[0].origin == .kept && jobs[0].outputs.count == 2 && jobs[0].order.outputs[1].name == "thumb")
            #expect(jobs[0].story?.chapters.map(\.kind) == ["render", "publish"])
            #expect(jobs[0].story?.chapters.first?.attempt == nil && jobs[0].story?.after.count == 2)
            #expect(jobs[3].error?.hasPrefix("this is no picture") == true && jobs[3].failure == nil)
            #expect(jobs[4].state == .waiting && jobs[4].waitReason == .place)
            #expect(jobs[4].reason == "no space in /tmp/pipelined-ledger-1/outbox/full")
            #expect(jobs[5].state == .running && jobs[5].intent?.steps.count == 1)
            #expect(jobs.filter { $0.batch == 1 }.map(\.path) == ["one.png", "two.png"])
            #expect(jobs[10].order.adHoc && jobs[10].origin == .spooled)
            for job in jobs {
                #expect(job.setbacks == 0 && job.crashes == 0 && job.due == nil && job.segment == 0 && !job.anyway)
                #expect(job.waitReason == (job.state == .waiting ? .place : nil))
            }
            #expect(try ledger.queued(limit: 100).map(\.id) == [9, 10, 11, 12, 13])
            #expect(try ledger.events(after: 0, limit: 1000).count == ledger.cursor)
        }
    }

    @Test("the ledger is migrated once, and then equals a new one")
    func schema() throws {
        func schema(_ path: String) throws -> [String] {
            try Database(path: path).column("SELECT type || ' ' || name FROM sqlite_schema ORDER BY 1")
        }
        func columns(_ path: String) throws -> [String] {
            try Database(path: path).column("SELECT name FROM pragma_table_info('jobs') ORDER BY 1")
        }
        try withCopy { path in
            for _ in 1...2 { _ = try Ledger(path: path) }
            let fresh = path + ".new"
            _ = try Ledger(path: fresh)
            #expect(try schema(path) == schema(fresh))
            #expect(try columns(path) == columns(fresh))
        }
    }
}
