import Foundation
import PipelineModel
import Synchronization
import SystemCalls
import TestTools
import Testing

@testable import JobLedger

@Suite("The ledger")
struct LedgerTests {
    @Test("jobs are there after it was opened again, in the order of their position")
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

    @Test("a job's row is read as it was written, each column for itself")
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

    @Test("readers do not wait for each other")
    func readers() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            ledger.insert([job(1)])
            #expect(ledger.flush(seconds: 30))
            let found = try ledger.read { _ in try ledger.read { _ in try ledger.queued(limit: 10) } }
            #expect(found.map(\.id) == [1])
        }
    }

    @Test(
        "hosts of queued downloads are found without user, port kept, in any letters; each has its own rows, in order")
    func hosts() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            let urls = [
                "https://b.example/1.png", "http://User:p@ss@B.example/2.png", "http://a.example:8080?q=/x@y",
                "https://[2001:db8::1]:443/z.png#@c.example", "http://b.example\\@d.example/",
            ]
            let records = try urls.enumerated().map { index, url in
                var record = job(index + 1)
                (record.url, record.host, record.file) = (url, try WebAddress(url).server, .none)
                if index == 4 { record.priority = 1 }
                return record
            }
            ledger.insert(records)
            #expect(ledger.flush(seconds: 30))
            let hosts = try ledger.queued(.download, limit: 10).map { $0.host ?? "" }
            #expect(hosts == ["b.example", "b.example", "b.example", "a.example:8080", "[2001:db8::1]:443"])
            var found: [String] = []
            while let next = try ledger.host(after: found.last ?? "", .normal) { found.append(next) }
            #expect(found == ["[2001:db8::1]:443", "a.example:8080", "b.example"])
            let lane = HostLane(host: "b.example", priority: .normal)
            #expect(try ledger.queued(lane, except: [], limit: 10).map(\.id) == [1, 2])
            #expect(try ledger.queued(lane, except: [1], limit: 1).map(\.id) == [2])
        }
    }

    @Test("the jobs of a ledger that derived each host have it written beside them, whatever their state")
    func derivedHosts() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/ledger.sqlite"
            let older = try Database(path: path)
            let version = try #require(Schema.steps.firstIndex { $0.contains("DROP COLUMN authority") })
            for step in Schema.steps[..<version] { try older.script(step) }
            try older.script(
                """
                PRAGMA user_version=\(version);
                INSERT INTO orders VALUES (1, '\(try JSONText.encode(order))');
                INSERT INTO jobs (id, position, work, path, origin, source, device, inode, size, modified, state, created, url)
                    VALUES (1, 1, 1, 'a', 'spooled', '/spool/a', 0, 0, 0, 0, 'queued', 0, 'https://u:p@A.example:8/x@y'),
                    (2, 2, 1, 'b', 'spooled', '/spool/b', 0, 0, 0, 0, 'failed', 0, 'https://b.example'),
                    (3, 3, 1, 'c', 'claimed', '/in/c', 0, 9, 0, 0, 'queued', 0, NULL)
                """)
            let ledger = try Ledger(path: path)
            #expect(try ledger.jobs([1, 2, 3]).map(\.host) == ["a.example:8", "b.example", nil])
            #expect(try ledger.host(after: "", .normal) == "a.example:8")
        }
    }

    @Test("orders of ledgers from before OnTruncated was there are read, and mean what was done then")
    func olderOrders() throws {
        let text =
            #"{"adHoc":false,"conflict":"number","inbox":"/in","original":"archive","outbox":"/out","outputs":[],"recipe":"r"}"#
        #expect(try JSONText.decode(WorkOrder.self, text) == order)
        var accepting = order
        (accepting.onTruncated, accepting.raw) = (.accept, .develop)
        #expect(try JSONText.decode(WorkOrder.self, JSONText.encode(accepting)) == accepting)
    }

    @Test("the jobs of a batch are counted as they come, change, pass a barrier, are cancelled in bulk and forgotten")
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

    @Test("every change of a job is an event, and a bulk cancel one for each job, in order")
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

    @Test("an entry that SQLite refuses is left out, is told, and holds up nobody")
    func refused() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            let told = Mutex<[String]>([])
            ledger.insert([job(1)]) { told.withLock { $0.append("first") } }
            // The same ID once more.
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

    @Test("a change that somebody waits for is not kept until others come")
    func wanted() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            let asked = Mutex(0)
            ledger.awaitsOthers {
                asked.withLock { $0 += 1 }
                return true
            }
            for _ in 0..<20 { #expect(ledger.flush(seconds: 30)) }
            #expect(asked.withLock { $0 } == 0)
        }
    }

    @Test("a job that waits for an outbox comes back behind the others, in its order")
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

    @Test("a file written by a newer version is refused with that reason")
    func newer() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/ledger.sqlite"
            do { try Database(path: path).script("PRAGMA user_version=99") }
            let error = #expect(throws: LedgerError.self) { try Ledger(path: path) }
            #expect(error?.description.contains("newer pipelined") == true)
        }
    }

    @Test("the newest jobs of a filter can be listed without the others")
    func newest() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            ledger.insert((1...10).map { job($0, $0 % 2 == 0 ? .failed : .done) })
            #expect(ledger.flush(seconds: 30))
            let filter = JobFilter(states: [.failed], recipe: "r")
            let start = try ledger.start(ofNewest: 2, filter)
            #expect(try ledger.list(filter, after: start, limit: 100).map(\.id) == [8, 10])
            #expect(try ledger.list(JobFilter(recipe: "other"), after: 0, limit: 100).isEmpty)
        }
    }

    @Test("a job that waits for a filter is told from the rest by the chain of its order")
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

    @Test("a due time is moved with a clock that is set back, and waits for no longer than is allowed")
    func setBack() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            ledger.insert((1...3).map { job($0) })
            for (id, due) in [(1, 5000.0), (2, 5100.0), (3, 9e9)] {
                var waiting = job(id, .waiting)
                (waiting.waitReason, waiting.due) = (.retry, due)
                ledger.record(waiting)
            }
            // The clock said 5000 when the first was due, and then 1400.
            ledger.bringBackDue(at: 4, setBack: 3600, most: 600, now: 1400) { #expect($0 == 1 && $1 == 1500) }
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.jobs([1, 2, 3]).map(\.due) == [nil, 1500, 2000])
        }
    }

    @Test(
        "a job that is due comes back, behind the others, and the next is told; one that waits for something else does not"
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
        "waiting jobs are grouped by their reasons, by an index, of all jobs, of a batch, and of some; the rarest reasons are told together"
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
            func told(_ who: Ledger.Waiters) throws -> [String] {
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
            ) { $0.text(3) }
            #expect(plan == "SCAN jobs USING INDEX jobs_waiting")
        }
    }

    @Test("a work order goes when its last job has, and comes back with the next")
    func orders() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/ledger.sqlite"
            let ledger = try Ledger(path: path)
            func orders() throws -> Int {
                try Database(path: path).first("SELECT COUNT(*) FROM orders") { $0.integer(0) } ?? 0
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

    @Test("jobs are found by when they ended, or were taken when they have not")
    func times() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            var ended = job(1, .failed)
            ended.finished = 3000
            ledger.insert([ended, job(2)])
            #expect(ledger.flush(seconds: 30))
            func found(_ since: Double?, _ until: Double?) throws -> [Int] {
                try ledger.list(JobFilter(since: since, until: until), after: 0, limit: 10).map(\.id)
            }
            #expect(try found(1000, nil) == [1, 2])
            #expect(try found(1001, nil) == [1])
            #expect(try found(nil, 3000) == [2])
            #expect(try found(3000, 3000.1) == [1])
        }
    }

    @Test("jobs that have failed since a time are counted, as long as they are failed")
    func failedSince() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            var jobs = [job(1, .failed), job(2, .failed), job(3, .done), job(4)]
            for (index, time) in [2999.9, 3000, 3001].enumerated() { jobs[index].finished = time }
            ledger.insert(jobs)
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.failedCount(since: 2000) == 2)
            #expect(try ledger.failedCount(since: 3000) == 1)
            #expect(try ledger.failedCount(since: 3000.1) == 0)
            ledger.requeue([jobs[1]]) {}
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.failedCount(since: 2000) == 1)
        }
    }

    @Test("jobs of several states, and of a recipe, are listed in the order of their IDs, page by page")
    func pages() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            let states: [JobState] = [.queued, .waiting, .done, .failed]
            ledger.insert((1...40).map { job($0, states[$0 % 4]) })
            #expect(ledger.flush(seconds: 30))
            let wanted = (1...40).filter { [0, 1, 3].contains($0 % 4) }
            for recipe in [nil, "r"] {
                let filter = JobFilter(states: [.failed, .queued, .waiting], recipe: recipe)
                var (found, last): ([Int], Int) = ([], 0)
                while case let page = try ledger.list(filter, after: last, limit: 7).map(\.id), let end = page.last {
                    found += page
                    last = end
                }
                #expect(found == wanted)
                #expect(try ledger.start(ofNewest: 3, filter) == wanted[wanted.count - 3] - 1)
                #expect(try ledger.start(ofNewest: 100, filter) == 0)
            }
        }
    }

    @Test("more jobs than a statement changes at a time are cancelled as one, and what they come to is counted")
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

    @Test("queued downloads are told from queued pictures, whichever are more")
    func downloads() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            func insert(_ ids: ClosedRange<Int>, downloads: Bool) {
                ledger.insert(
                    ids.map { id in
                        var job = job(id)
                        if downloads { (job.url, job.file) = ("https://example.org/\(id)", .none) }
                        return job
                    })
                #expect(ledger.flush(seconds: 30))
            }
            insert(1...3, downloads: true)
            insert(4...1503, downloads: false)
            #expect(try ledger.queuedDownloads(among: 1503) == 3)
            insert(1504...3203, downloads: true)
            #expect(try ledger.queuedDownloads(among: 3203) == 1703)
        }
    }

    @Test("a start learns which originals of a folder are known, those on their way back among them")
    func knownInFolder() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            var (disposed, elsewhere, returning) = (job(2, .done), job(3), job(4, .failed))
            (disposed.disposed, returning.disposed) = (true, true)
            (elsewhere.source, returning.source) = ("/in/.pipelined/01/3.png", "/failed/4.png")
            ledger.insert([job(1), disposed, elsewhere, returning])
            #expect(ledger.begin([Ledger.Return(job: 4, place: "/in/.pipelined/0/b/4.png")]) == [4])
            var known: [String] = []
            try ledger.forEachKnown(in: "/in/.pipelined/0") { known.append($0) }
            #expect(known == ["1.png", "b/4.png"])
        }
    }

    @Test("a job in work changes what work changes, and its row keeps the rest")
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
