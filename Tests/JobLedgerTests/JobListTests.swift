import Foundation
import JobModel
import PipelineModel
import SystemCalls
import TestTools
import Testing

@testable import JobLedger

@Suite("Queries for rows")
struct JobListTests {
    @Test(
        "hosts of queued downloads ignore user and case, keep the port, and have their own rows, in order")
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
            while let next = try ledger.group(after: found.last ?? "", .download, .normal) { found.append(next) }
            #expect(found == ["[2001:db8::1]:443", "a.example:8080", "b.example"])
            let lane = Lane(.download, "b.example", .normal)
            #expect(try ledger.queued(lane, except: [], limit: 10).map(\.id) == [1, 2])
            #expect(try ledger.queued(lane, except: [1], limit: 1).map(\.id) == [2])
        }
    }

    @Test("an older ledger's jobs get their host written beside them, whatever their state")
    func derivedHosts() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/ledger.sqlite"
            let older = try Database(path: path)
            let version = try #require(Schema.steps.firstIndex { $0.name == "hosts of downloads, stored" })
            for (number, step) in zip(1..., Schema.steps[..<version]) { try step.run(number, on: older) }
            try older.run("INSERT INTO orders VALUES (1, \(try JSONText.encode(order)))")
            try older.run(
                """
                INSERT INTO jobs (id, position, work, path, origin, source, device, inode, size, modified, state, created, url)
                    VALUES (1, 1, 1, 'a', 'spooled', '/spool/a', 0, 0, 0, 0, 'queued', 0, 'https://u:p@A.example:8/x@y'),
                    (2, 2, 1, 'b', 'spooled', '/spool/b', 0, 0, 0, 0, 'failed', 0, 'https://b.example'),
                    (3, 3, 1, 'c', 'claimed', '/in/c', 0, 9, 0, 0, 'queued', 0, NULL)
                """)
            let ledger = try Ledger(path: path)
            #expect(try ledger.jobs([1, 2, 3]).map(\.host) == ["a.example:8", "b.example", nil])
            #expect(try ledger.group(after: "", .download, .normal) == "a.example:8")
            #expect(try ledger.group(after: "", .render, .normal) == order.recipe)
        }
    }

    @Test("queued pictures are found by recipe and batch, in the order of their positions")
    func lanes() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            let places: [(recipe: String, batch: Int?)] = [("web", 7), ("print", nil), ("web", nil), ("web", 7)]
            ledger.insert(
                zip(1..., places).map { id, place in
                    var record = job(id)
                    (record.order.recipe, record.batch) = place
                    return record
                })
            #expect(ledger.flush(seconds: 30))
            var recipes: [String] = []
            while let next = try ledger.group(after: recipes.last ?? "", .render, .normal) { recipes.append(next) }
            #expect(recipes == ["print", "web"])
            var members: [Int] = []
            while let next = try ledger.member(after: members.last ?? .min, of: "web", .normal) { members.append(next) }
            #expect(members == [-1, 7])
            let lane = Lane(.render, "web", member: 7, .normal)
            #expect(try ledger.queued(lane, except: [], limit: 10).map(\.id) == [1, 4])
            #expect(try ledger.group(after: "", .render, .high) == nil)
        }
    }

    @Test("the newest jobs that match a filter can be listed without the others")
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

    @Test("jobs are found by their end time, or by their start if they have not ended")
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

    @Test("failed jobs since a time are counted while they are failed")
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

    @Test("jobs of several states, and of a recipe, are listed in ID order, page by page")
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

    @Test("queued downloads are distinguished from queued pictures, whichever are more")
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

    @Test("a start learns which originals of a folder are known, including those on their way back")
    func knownInFolder() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            var (disposed, elsewhere, returning) = (job(2, .done), job(3), job(4, .failed))
            (disposed.disposed, returning.disposed) = (true, true)
            (elsewhere.source, returning.source) = ("/in/.pipelined/01/3.png", "/failed/4.png")
            ledger.insert([job(1), disposed, elsewhere, returning])
            #expect(
                ledger.begin([Ledger.Return(job: 4, place: "/in/.pipelined/0/b/4.png", state: .failed, file: .none)])
                    == [4])
            var known: [String] = []
            try ledger.forEachKnown(in: "/in/.pipelined/0") { known.append($0) }
            #expect(known == ["1.png", "b/4.png"])
        }
    }

    @Test("a state that is named twice, or shown as another during a pause, yields each job once in its state")
    func states() throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            var records = [job(1), job(2), job(3), job(4), job(5, .done)]
            for index in [1, 2] {
                (records[index].url, records[index].host) = ("http://a.example/\(index).png", "a.example")
                records[index].file = .none
            }
            ledger.insert(records)
            records[3].state = .waiting
            ledger.record(records[3])
            #expect(ledger.flush(seconds: 30))
            func ids(_ states: [JobState], held: [FirstQueue]) throws -> [ClosedRange<Int>] {
                var filter = JobFilter(states: states)
                filter.stoppedQueues = held
                let ids = try ledger.ids(filter)
                #expect(try ledger.list(filter, after: 0, limit: 10).map(\.id) == ids.flatMap { Array($0) })
                return ids
            }
            for held in [[], [.render], [.download], FirstQueue.allCases] {
                #expect(try ids([.waiting, .queued, .queued, .done, .done], held: held) == [1...5])
            }
            #expect(try ids([.queued], held: []) == [1...3])
            #expect(try ids([.waiting], held: []) == [4...4])
            #expect(try ids([.queued], held: [.download]) == [1...1])
            #expect(try ids([.waiting], held: [.download]) == [2...4])
            #expect(try ids([.queued], held: [.render]) == [2...3])
            #expect(try ids([.waiting], held: [.render]) == [1...1, 4...4])
            #expect(try ids([.queued], held: FirstQueue.allCases) == [])
            #expect(try ids([.waiting], held: FirstQueue.allCases) == [1...4])
        }
    }
}
