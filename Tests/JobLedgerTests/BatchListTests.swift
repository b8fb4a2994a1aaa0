import JobModel
import PipelineModel
import SystemCalls
import TestTools
import Testing

@testable import JobLedger

@Suite("Batches in the ledger")
struct BatchListTests {
    @Test("a batch is forgotten with its last job, but the latest batch stays, so that its number is not reused")
    func forgotten() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            func ids() throws -> [Int] {
                #expect(ledger.flush(seconds: 30))
                return try ledger.batches(Set(1...4)).keys.sorted()
            }
            for id in 1...4 {
                var job = job(id, id == 2 ? .queued : .done)
                (job.batch, job.disposed, job.finished) = (id, true, id == 2 ? nil : 1)
                ledger.insert([job], batches: [BatchRecord(id: id, name: "b\(id)", isOpen: false)])
            }
            ledger.forgetBatches()
            #expect(try ids() == [1, 2, 3, 4])
            ledger.forget(allBut: 0, endedBefore: 5000) { _ in }
            ledger.forgetBatches()
            #expect(try ids() == [2, 4])
            #expect(try ledger.batches(named: nil, newest: nil, after: 0, limit: 9).map(\.id) == [2])
            #expect(try ledger.batchNames(limit: 9) == ["b4", "b2"])
            #expect(try ledger.highest().batch == 4)
        }
    }
}
