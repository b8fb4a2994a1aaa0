import JobModel
import PipelineModel
import Synchronization
import SystemCalls
import TestTools
import Testing

@testable import JobLedger

@Suite("News of a batch")
struct BatchNewsTests {
    private func job(_ id: Int, _ state: JobState = .queued, atBarrier segment: Int? = nil) -> JobRecord {
        var job = JobRecord(
            id: id, position: id, batch: 1, order: order, path: "\(id).png", origin: .claimed, source: "/in/\(id)",
            file: FileStatus.Identity(device: 1, inode: id, size: 10, modified: 20), state: state, created: 1000)
        if let segment { (job.waitReason, job.segment) = (.barrier, segment) }
        return job
    }

    /// Runs `body` with a ledger, a batch of two jobs, and a function that returns the batch's new notifications.
    private func with(_ body: (Ledger, _ news: () -> [BatchNews]) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            let listener = Listener()
            ledger.connect(listener)
            ledger.insert([job(1), job(2)], batches: [BatchRecord(id: 1, isOpen: false)])
            try body(ledger) {
                #expect(ledger.flush(seconds: 30))
                // Notifications are sent after the write transaction, so the second flush waits for them.
                #expect(ledger.flush(seconds: 30))
                return listener.takeNews(of: 1)
            }
        }
    }

    private func announced(_ ledger: Ledger) throws -> [String] {
        ledger.release(1) { _ in }
        #expect(ledger.flush(seconds: 30))
        return try ledger.events(after: 0, limit: 1000).compactMap { $0.event.kind == "batch" ? $0.event.text : nil }
    }

    @Test("a batch is announced once at each barrier, and later arrivals join silently")
    func once() throws {
        try with { (ledger, news) throws in
            ledger.record(job(1, .waiting, atBarrier: 1))
            ledger.record(job(2, .failed))
            #expect(news() == [.arrived])
            #expect(try announced(ledger) == ["arrived"])
            #expect(try ledger.queued(limit: 10).map(\.id) == [1])
            ledger.record(job(2, .waiting, atBarrier: 1))
            ledger.record(job(1, .waiting, atBarrier: 2))
            #expect(news() == [.joined])
            #expect(try announced(ledger) == ["arrived"])
            #expect(try ledger.queued(limit: 10).map(\.id) == [2])
            ledger.record(job(2, .waiting, atBarrier: 2))
            #expect(news() == [.arrived])
            #expect(try announced(ledger) == ["arrived", "arrived"])
            for id in 1...2 { ledger.record(job(id, .done)) }
            // The batch ends when the last original has been moved to its final folder.
            ledger.recordDisposal(of: [(1, "/archive/1")]) {}
            #expect(news() == [])
            ledger.recordDisposal(of: [(2, "/archive/2")]) {}
            #expect(news() == [.ended])
            #expect(try announced(ledger) == ["arrived", "arrived", "ended"])
        }
    }

    @Test("a batch whose jobs end at the barrier before they are released has arrived and ended")
    func endedMeanwhile() throws {
        try with { (ledger, news) throws in
            for id in 1...2 { ledger.record(job(id, .waiting, atBarrier: 1)) }
            #expect(news() == [.arrived])
            for id in 1...2 { ledger.record(job(id, .cancelled)) }
            ledger.recordDisposal(of: (1...2).map { ($0, "/cancelled/\($0)") }) {}
            #expect(news().last == .ended)
            #expect(try announced(ledger) == ["arrived", "ended"])
            #expect(try announced(ledger) == ["arrived", "ended"])
        }
    }

    @Test(
        "a batch that was closed empty, ended and was forgotten still reaches its barrier when it gets jobs",
        arguments: [false, true])
    func forgotten(isRestarted: Bool) throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/ledger.sqlite"
            let listener = Listener()
            var ledger = try Ledger(path: path)
            for id in 1...2 { ledger.open(batch: id, name: nil) {} }
            ledger.close(batch: 1)
            #expect(ledger.flush(seconds: 30))
            ledger.forgetBatches()
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.batches(named: nil, newest: nil, after: 0, limit: 10).map(\.id) == [2])
            if isRestarted {
                // An earlier version left the job waiting at its barrier.
                ledger.insert([job(1)])
                ledger.record(job(1, .waiting, atBarrier: 1))
                #expect(ledger.flush(seconds: 30))
                try Database(path: path).run("DELETE FROM batches WHERE id = 1")
                ledger = try Ledger(path: path)
            }
            ledger.connect(listener)
            // The ledger connects the listener asynchronously, and a commit may be due already. Flush, so that the
            // listener is connected before the changes below are committed.
            #expect(ledger.flush(seconds: 30))
            if isRestarted {
                ledger.lookAtBatches()
            } else {
                ledger.insert([job(1)])
                ledger.record(job(1, .waiting, atBarrier: 1))
            }
            for _ in 0..<2 { #expect(ledger.flush(seconds: 30)) }
            #expect(listener.takeNews(of: 1).last == .arrived)
            ledger.release(1) { _ in }
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.queued(limit: 10).map(\.id) == [1])
        }
    }
}
