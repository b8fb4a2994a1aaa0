import Foundation
import JobModel
import PipelineModel
import Synchronization
import SystemCalls
import TestTools
import Testing

@testable import JobLedger

@Suite("The ledger")
struct LedgerTests {
    @Test("a reopened ledger has its jobs in the order of their positions")
    func reopened() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/ledger.sqlite"
            do {
                let ledger = try Ledger(path: path)
                ledger.insert([job(3), job(1), job(2)])
                #expect(ledger.flush(seconds: 30))
            }
            let ledger = try Ledger(path: path)
            #expect(try ledger.queued(limit: 10).map(\.id) == [1, 2, 3])
            #expect(try ledger.queued(except: [1], limit: 1).map(\.id) == [2])
            #expect(try ledger.highest() == (3, 3, 0))
            #expect(try ledger.job(2)?.order == order)
        }
    }

    @Test("every column of a job's row is read as it was written")
    func columns() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            var job = job(1, .waiting)
            (job.position, job.batch, job.origin, job.priority, job.anyway) = (2, 3, .spooled, 1, true)
            (job.reason, job.error, job.advice, job.failure) = ("reason", "error", "advice", .transient)
            let file = FileStatus.Identity(device: 0, inode: 10, size: 11, modified: 12)
            job.intent = PublishIntent(
                steps: [.init(staging: "/staging", target: "/target", conflict: .number, file: file)])
            let outputs = [PublishedFile(path: "/a", file: file), PublishedFile(path: "/b")]
            (job.outputs, job.tries, job.setbacks, job.crashes) = (outputs, 4, 5, 6)
            (job.created, job.started, job.finished, job.due, job.waitReason) = (1000.5, 1001.5, 1002.5, 1003.5, .retry)
            (job.url, job.host, job.partial) = ("https://a/", "a", FetchResume(offset: 7, validator: "\"v\""))
            let result = RenderedOutput(format: "png", width: 1, height: 2, bands: 3, bytes: 4)
            (job.segment, job.staged) = (8, [.init(index: 9, path: "/staged", result: result)])
            (job.story, job.disposed) = (JobStory(), true)
            ledger.insert([job])
            ledger.record(job)
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.job(1).map { "\($0)" } == "\(job)")
        }
    }

    @Test("a row with damaged text is reported with its job, its column and the remedy")
    func damagedRow() throws {
        try withTemporaryFolder { folder in
            let file = "\(folder)/ledger.sqlite"
            let ledger = try Ledger(path: file)
            ledger.insert([job(1), job(2)])
            #expect(ledger.flush(seconds: 30))
            let database = try Database(path: file)
            try database.run("UPDATE jobs SET outputs = '{' WHERE id = 2")
            let error = #expect(throws: LedgerError.self) { try ledger.jobs([1, 2]) }
            #expect(
                error?.message.contains("job 2 is damaged in 'outputs'; go back to a backup") == true,
                "\(error?.message ?? "")")
            try database.run("UPDATE orders SET body = '{'")
            #expect(throws: LedgerError.self) { try ledger.job(1) }
            #expect(try ledger.job(3) == nil)
        }
    }

    @Test("readers do not block each other")
    func readers() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            ledger.insert([job(1)])
            #expect(ledger.flush(seconds: 30))
            let found = try ledger.read { _ in try ledger.read { _ in try ledger.queued(limit: 10) } }
            #expect(found.map(\.id) == [1])
        }
    }

    @Test("work orders from before OnTruncated= can be read, and mean the same as then")
    func olderOrders() throws {
        let text =
            #"{"adHoc":false,"conflict":"number","inbox":"/in","original":"archive","outbox":"/out","outputs":[],"recipe":"r"}"#
        #expect(try JSONText.decode(WorkOrder.self, text) == order)
        var accepting = order
        (accepting.onTruncated, accepting.raw) = (.accept, .develop)
        #expect(try JSONText.decode(WorkOrder.self, JSONText.encode(accepting)) == accepting)
    }

    @Test("a batch's jobs are counted as they arrive, change, pass a barrier, are cancelled in bulk and forgotten")
    func tallies() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            func counted() throws -> BatchRecord {
                #expect(ledger.flush(seconds: 30))
                return try #require(try ledger.batches([7])[7])
            }
            let jobs = (1...6).map { id in
                var job = job(id)
                job.batch = id == 6 ? nil : 7
                job.disposed = id == 1
                return job
            }
            ledger.insert(jobs, batches: [BatchRecord(id: 7, name: "a.urls", isOpen: false)])
            #expect(try counted().jobs == [.queued: 5])
            #expect(try ledger.unfinishedBatches(limit: 9) == (ids: [7], count: 1, jobs: 5))
            var (first, second) = (jobs[0], jobs[1])
            first.state = .done
            first.finished = 1
            (second.state, second.waitReason, second.segment) = (.waiting, .barrier, 1)
            ledger.record(first)
            ledger.record(second)
            #expect(try counted().jobs == [.queued: 3, .done: 1, .waiting: 1])
            #expect(try counted().reached == [1: 1] && counted().waiting == 0)
            ledger.cancelQueued(upTo: 4, JobChoice(), except: [3], at: 2000) { _ in }
            let record = try counted()
            #expect(record.jobs[.cancelled] == 2 && record.jobs[.queued] == 2 && record.ended == 3)
            #expect(record.unended == 2 && !record.hasEnded)
            ledger.forget(allBut: 0, endedBefore: 5000) { _ in }
            #expect(try counted().jobs[.done] == nil)
        }
    }

    @Test("every change of a job is an event, and a bulk cancel is one event per job, in order")
    func events() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            ledger.insert((1...5).map { job($0) })
            var running = job(2)
            running.state = .running
            ledger.record(running)
            ledger.cancelQueued(upTo: 4, JobChoice(), except: [3], at: 2000) {
                #expect($0.queued == 2 && $0.waiting == 0)
            }
            #expect(ledger.flush(seconds: 30))
            let events = try ledger.events(after: 5, limit: 10).map(\.event)
            #expect(events.map(\.job) == [2, 1, 4])
            #expect(events.map(\.state) == [.running, .cancelled, .cancelled])
            #expect(try ledger.counts() == [.queued: 2, .running: 1, .cancelled: 2])
            #expect(try ledger.events(after: 8, limit: 10).isEmpty)
        }
    }

    @Test("an entry that SQLite refuses is left out and reported, and holds up no others")
    func refused() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            let told = Mutex<[String]>([])
            ledger.insert([job(1)]) { told.withLock { $0.append("first") } }
            // Job 1 exists already, so SQLite refuses this entry.
            ledger.insert([job(1)]) {
                told.withLock { $0.append("never") }
            } refused: {
                told.withLock { $0.append("refused") }
            }
            ledger.insert([job(2)]) { told.withLock { $0.append("second") } }
            #expect(ledger.flush(seconds: 30))
            #expect(told.withLock { $0 }.sorted() == ["first", "refused", "second"])
            #expect(try ledger.queued(limit: 10).map(\.id) == [1, 2])
            #expect(ledger.problem == nil)
        }
    }

    /// A delegate that always reports that it awaits further changes.
    private final class Patient: LedgerDelegate {
        let asked = Mutex(0)

        var awaitsOthers: Bool {
            asked.withLock { $0 += 1 }
            return true
        }
    }

    @Test("a change with a waiting caller is written at once instead of waiting for others")
    func wanted() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            let patient = Patient()
            ledger.connect(patient)
            for _ in 0..<20 { #expect(ledger.flush(seconds: 30)) }
            #expect(patient.asked.withLock { $0 } == 0)
        }
    }

    @Test("a file written by a newer version is refused with that reason")
    func newer() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/ledger.sqlite"
            do { try Database(path: path).script("PRAGMA user_version=99") }
            let error = #expect(throws: LedgerError.self) { try Ledger(path: path) }
            #expect(error?.description.contains("newer pipelined") == true)
        }
    }

    @Test("a work order is removed with its last job, and returns with the next")
    func orders() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/ledger.sqlite"
            let ledger = try Ledger(path: path)
            func orders() throws -> Int {
                try Database(path: path).value("SELECT COUNT(*) FROM orders") ?? 0
            }
            var old = job(1, .done)
            (old.order.recipe, old.finished) = ("old", 1000)
            ledger.insert([old, job(2)])
            ledger.recordDisposal(of: [(1, "/gone")]) {}
            ledger.forget(allBut: 10, endedBefore: 2000) { #expect($0 == [.done: 1]) }
            ledger.forgetOrders()
            #expect(ledger.flush(seconds: 30))
            #expect(try orders() == 1)
            old.id = 3
            ledger.insert([old])
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.job(3)?.order.recipe == "old")
            #expect(try orders() == 2)
        }
    }

    @Test("more jobs than one statement changes are cancelled as one, and their results are counted")
    func cancelledInPortions() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            let last = 20_050
            ledger.insert((1...last).map { job($0, $0 == 7 ? .waiting : .queued) })
            #expect(try ledger.queuedDownloads(among: 0) == 0)
            ledger.cancelQueued(upTo: last, JobChoice(), except: [20_049], at: 5000) {
                #expect($0.queued == last - 2)
                #expect($0.waiting == 1)
            }
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.counts() == [.queued: 1, .cancelled: last - 1])
            let events = try ledger.events(after: last, limit: last).map(\.event)
            #expect(events.count == last - 1)
            #expect(events.allSatisfy { $0.state == .cancelled && $0.time == 5000 })
        }
    }

    @Test(
        "when more jobs are cancelled than events are kept, the last have events, at the right cursors"
    )
    func eventsOfMany() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            let last = 40_050
            ledger.keep(events: 1000)
            ledger.insert((1...last).map { job($0) })
            ledger.cancelQueued(upTo: last, JobChoice(), except: [], at: 5000) { #expect($0.queued == last) }
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.counts() == [.cancelled: last])
            #expect(ledger.cursor == 2 * last)
            let events = try ledger.events(after: 0, limit: last).map(\.event)
            #expect(events.map(\.cursor) == Array(2 * last - 999...2 * last))
            #expect(events.map(\.job) == Array(last - 999...last))
        }
    }

    @Test("a running job updates only the columns of its work")
    func inWork() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            var failed = job(1, .waiting)
            (failed.waitReason, failed.due, failed.error, failed.setbacks, failed.tries) = (
                .retry, 9000, "the disk", 2, 1
            )
            ledger.insert([job(1)])
            ledger.record(failed)
            var queued = failed
            (queued.state, queued.waitReason, queued.due) = (.queued, nil, nil)
            ledger.record(queued)
            var running = queued
            (running.state, running.started, running.reason) = (.running, 5000, "memory")
            running.story = JobStory()
            running.story?.begin("render", segment: 0, attempt: 2)
            ledger.record(running)
            #expect(ledger.flush(seconds: 30))
            let row = try #require(try ledger.job(1))
            #expect((row.state, row.started, row.reason) == (.running, 5000, "memory"))
            #expect(row.story == running.story)
            #expect((row.error, row.setbacks, row.tries) == ("the disk", 2, 1))
            #expect(row.waitReason == nil && row.due == nil)
            #expect(
                try ledger.events(after: 0, limit: 10).map(\.event.state) == [.queued, .waiting, .queued, .running])
        }
    }
}
