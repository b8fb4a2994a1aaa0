import Foundation
import JobModel
import PipelineModel
import TestTools
import Testing

@testable import JobLedger

@Suite("Rows that wait")
struct WaitingRowTests {
    @Test("jobs that waited for an outbox are queued behind all others, in their order")
    func waiting() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            ledger.insert((1...4).map { job($0) })
            ledger.setAside(.place("/out"), reason: "no space", except: [3]) { #expect($0 == 3) }
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.queued(limit: 10).map(\.id) == [3])
            #expect(try ledger.job(1)?.reason == "no space")
            ledger.bringBack(.place("/elsewhere"), except: [], at: 5) { #expect($0 == 0) }
            ledger.bringBack(.place("/out"), except: [], at: 5) { #expect($0 == 3) }
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.queued(limit: 10).map(\.id) == [3, 1, 2, 4])
            #expect(try ledger.queued(limit: 10).map(\.position) == [3, 5, 6, 7])
        }
    }

    @Test("a job that waits for a filter is selected by the chain in its order")
    func filters() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            var other = job(2)
            other.order.outputs = [
                RecipeOutput(
                    name: nil, chain: try Chain(parsing: "resize scale=0.5", catalog: StageCatalog(filters: [])))
            ]
            ledger.insert([job(1), other])
            ledger.setAside(.filter("noir"), reason: "no", except: []) { #expect($0 == 0) }
            ledger.setAside(.filter("resize"), reason: "it is missing", except: []) { #expect($0 == 1) }
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.queued(limit: 10).map(\.id) == [1])
            #expect(try ledger.waiting().map { "\($0.count) \($0.reason ?? "")" } == ["1 it is missing"])
            ledger.bringBack(.filter("resize"), except: [], at: 3) { #expect($0 == 1) }
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.queued(limit: 10).map(\.id) == [1, 2])
        }
    }

    @Test("a due time moves with a clock that is set back, and never exceeds the allowed wait")
    func setBack() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            ledger.insert((1...3).map { job($0) })
            for (id, due) in [(1, 5000.0), (2, 5100.0), (3, 9e9)] {
                var waiting = job(id, .waiting)
                (waiting.waitReason, waiting.due) = (.retry, due)
                ledger.record(waiting)
            }
            // The clock showed 5000 when the first retry was scheduled, and was then set back to 1400.
            ledger.bringBackDue(at: 4, setBack: 3600, most: 600, now: 1400) { #expect($0 == 1 && $1 == 1500) }
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.jobs([1, 2, 3]).map(\.due) == [nil, 1500, 2000])
        }
    }

    @Test(
        "a due job is queued behind all others, the next due time is reported, and jobs with other reasons keep waiting"
    )
    func due() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            ledger.insert((1...5).map { job($0) })
            for (id, due) in [(1, 1000.0), (2, 9e9), (3, 8e9)] {
                var waiting = job(id, .waiting)
                (waiting.waitReason, waiting.due, waiting.error) = (.retry, due, "reset")
                ledger.record(waiting)
            }
            var elsewhere = job(4, .waiting)
            (elsewhere.waitReason, elsewhere.reason) = (.after, "after 9")
            ledger.record(elsewhere)
            ledger.bringBackDue(at: 6, most: 1e10) { #expect($0 == 1 && $1 == 8e9) }
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.queued(limit: 10).map { [$0.id, $0.position] } == [[5, 5], [1, 6]])
            #expect(
                try ledger.waiting().map { "\($0.count) \($0.reason ?? "") \($0.due ?? 0)" } == [
                    "2 reset 8000000000.0", "1  0.0",
                ])
            ledger.bringBackEarly([2, 4, 5], upTo: 5, at: 7) { #expect($0 == [2]) }
            ledger.bringBackEarly(nil, upTo: 5, at: 8) { #expect($0 == [3]) }
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.counts() == [.queued: 4, .waiting: 1])
            #expect(try ledger.job(3)?.due == nil)
        }
    }

    @Test(
        "an index groups waiting jobs by reason, for all jobs, a batch or a selection, and rare reasons are merged"
    )
    func reasons() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/ledger.sqlite"
            let ledger = try Ledger(path: path)
            for id in 1...30 {
                var waiting = job(id, .waiting)
                (waiting.waitReason, waiting.due, waiting.batch) = (.retry, Double(1000 - id), id % 2)
                waiting.reason = "retry at \(id)"
                waiting.error = id <= 5 ? "503" : id <= 9 ? "no such host" : "error \(id)"
                ledger.insert([waiting])
                ledger.record(waiting)
            }
            #expect(ledger.flush(seconds: 30))
            func told(_ who: JobGroup) throws -> [String] {
                try ledger.waiting(who).map { "\($0.count) \($0.reason ?? "") \(Int($0.due ?? 0))" }
            }
            let all = try told(.all)
            #expect(all.count == 21)
            #expect(all[..<2] == ["5 503 995", "4 no such host 991"])
            #expect(all.last == "3 other reasons 0")
            #expect(try told(.batch(1))[..<2] == ["3 503 995", "2 no such host 991"])
            #expect(try told(.these([1, 2, 6])) == ["2 503 998", "1 no such host 994"])
            let plan = try Database(path: path).first(
                """
                EXPLAIN QUERY PLAN SELECT hold, obstacle, COUNT(*), MIN(due) FROM jobs INDEXED BY jobs_waiting
                WHERE state = 'waiting' GROUP BY hold, obstacle
                """
            ) { try $0["detail"] as String }
            #expect(plan == "SCAN jobs USING INDEX jobs_waiting")
        }
    }
}
