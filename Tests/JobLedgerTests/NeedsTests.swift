import Foundation
import JobModel
import PipelineModel
import Synchronization
import SystemCalls
import TestTools
import Testing

@testable import JobLedger

@Suite("Dependencies of jobs")
struct NeedsTests {
    /// Runs `body` with a ledger that has `count` queued jobs.
    private func with(_ count: Int, _ body: (Ledger) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            ledger.insert((1...count).map { job($0) })
            #expect(ledger.flush(seconds: 30))
            try body(ledger)
        }
    }

    private func depend(
        _ ledger: Ledger, _ id: Int, after: [Int] = [], remove: [Int] = [], anyway: Bool = false
    ) -> NeedsAnswer {
        let answer = Mutex<NeedsAnswer>(.refused)
        ledger.depend(id, after: after, remove: remove, anyway: anyway) { value in answer.withLock { $0 = value } }
        #expect(ledger.flush(seconds: 30))
        return answer.withLock { $0 }
    }

    private func end(_ ledger: Ledger, _ id: Int, _ state: JobState) {
        var ended = job(id, state)
        ended.finished = 1500
        ledger.record(ended)
        #expect(ledger.flush(seconds: 30))
    }

    private func states(_ ledger: Ledger) throws -> [String] {
        try ledger.list(JobFilter(), after: 0, limit: 1000).map { $0.state.rawValue }
    }

    @Test("a job waits until all its dependencies are done, names them, and then has its old place again")
    func releases() throws {
        try with(4) { (ledger) throws in
            #expect(depend(ledger, 1, after: [2, 3, 4]) == .done)
            let waiting = try #require(try ledger.job(1))
            #expect(waiting.state == .waiting && waiting.waitReason == .after)
            #expect(waiting.reason == "after job 2 and 2 more")
            #expect(try ledger.queued(limit: 10).map(\.id) == [2, 3, 4])
            let listener = Listener()
            ledger.connect(listener)
            end(ledger, 2, .done)
            end(ledger, 4, .done)
            #expect(try ledger.job(1)?.reason == "after job 3")
            #expect(listener.consequences.isEmpty)
            end(ledger, 3, .done)
            let released = try #require(try ledger.job(1))
            #expect(released.state == .queued && released.waitReason == nil && released.reason == nil)
            #expect(released.position == 1)
            #expect(listener.consequences.map(\.counts) == [[.waiting: -1, .queued: 1]])
            #expect(listener.consequences.map(\.released) == [.normal])
            let events = try ledger.events(after: 4, limit: 10).map(\.event).filter { $0.kind == "job" }
            #expect(events.map(\.job) == [1, 2, 4, 3, 1])
            #expect(events.map(\.state) == [.waiting, .done, .done, .done, .queued])
            #expect(events.first?.text == "after job 2 and 2 more")
        }
    }

    @Test(
        "cycles, self-dependencies and unknown jobs are refused with the path, and nothing changes",
        arguments: [2, 40])
    func circles(length: Int) throws {
        try with(length) { (ledger) throws in
            for id in 2...length { #expect(depend(ledger, id, after: [id - 1]) == .done) }
            #expect(depend(ledger, 1, after: [length]) == .circle([1] + (1...length).reversed()))
            #expect(depend(ledger, 1, after: [1]) == .circle([1, 1]))
            #expect(depend(ledger, 1, after: [77]) == .unknown(77))
            #expect(depend(ledger, 77, after: [1]) == .unknown(77))
            #expect(depend(ledger, 1, remove: [2]) == .unneeded(2))
            #expect(try ledger.job(1)?.state == .queued)
            #expect(try ledger.neighbours(of: 1).after.count == 0)
            // Without this link the new dependency closes no cycle.
            #expect(depend(ledger, 2, remove: [1]) == .done)
            #expect(depend(ledger, 1, after: [length]) == .done)
        }
    }

    @Test("two concurrent calls can't make a cycle together")
    func together() throws {
        try with(2) { (ledger) throws in
            let answers = Mutex<[NeedsAnswer]>([])
            ledger.depend(1, after: [2], remove: [], anyway: false) { answer in answers.withLock { $0.append(answer) } }
            ledger.depend(2, after: [1], remove: [], anyway: false) { answer in answers.withLock { $0.append(answer) } }
            #expect(ledger.flush(seconds: 30))
            #expect(answers.withLock { $0 } == [.done, .circle([2, 1, 2])])
        }
    }

    @Test("when a job fails, its dependents fail in turn, except jobs that should run anyway")
    func failing() throws {
        try with(6) { (ledger) throws in
            for id in 2...5 { #expect(depend(ledger, id, after: [id - 1], anyway: id == 4) == .done) }
            #expect(depend(ledger, 6, after: [1], anyway: true) == .done)
            let listener = Listener()
            ledger.connect(listener)
            end(ledger, 1, .failed)
            #expect(try states(ledger) == ["failed", "failed", "failed", "queued", "waiting", "queued"])
            #expect(try ledger.job(2)?.error == "job 1, which it comes after, failed")
            #expect(try ledger.job(3)?.error == "job 2, which it comes after, failed")
            #expect(try ledger.job(3)?.advice?.contains("pipectl retry 2 3") == true)
            #expect(try ledger.job(3)?.finished != nil)
            let consequences = try #require(listener.consequences.first)
            #expect(consequences.counts == [.waiting: -4, .failed: 2, .queued: 2])
            #expect(consequences.failed.sorted() == [2, 3])
            #expect(try ledger.undisposed(of: "/in", after: 0, limit: 10).map(\.id) == [1, 2, 3])
        }
    }

    @Test("a bulk cancel fails the dependents with that reason, unless they are cancelled themselves")
    func bulk() throws {
        try with(5) { (ledger) throws in
            #expect(depend(ledger, 4, after: [1]) == .done)
            #expect(depend(ledger, 3, after: [2]) == .done)
            #expect(depend(ledger, 5, after: [4]) == .done)
            ledger.cancelQueued(upTo: 5, JobChoice(ids: [1, 2, 3]), except: [], at: 2000) {
                #expect($0.queued == 2 && $0.waiting == 1)
            }
            #expect(ledger.flush(seconds: 30))
            #expect(try states(ledger) == ["cancelled", "cancelled", "cancelled", "failed", "failed"])
            #expect(try ledger.job(4)?.error == "job 1, which it comes after, was cancelled")
            #expect(try ledger.counts() == [.cancelled: 3, .failed: 2])
        }
    }

    @Test("a done dependency counts as met, any other ended one is refused, except with anyway")
    func over() throws {
        try with(4) { (ledger) throws in
            end(ledger, 1, .done)
            end(ledger, 2, .failed)
            #expect(depend(ledger, 3, after: [1]) == .done)
            #expect(try ledger.job(3)?.state == .queued)
            #expect(depend(ledger, 3, after: [2]) == .over(2, .failed))
            #expect(depend(ledger, 4, after: [2, 1], anyway: true) == .done)
            #expect(try ledger.job(4)?.state == .queued)
            let neighbours = try ledger.neighbours(of: 4)
            #expect(neighbours.after.jobs.map(\.id) == [1, 2])
            #expect(try ledger.neighbours(of: 1).followers.jobs.map(\.id) == [3, 4])
            var running = job(3)
            running.state = .running
            ledger.record(running)
            #expect(depend(ledger, 3, after: [4]) == .begun(.running))
        }
    }

    @Test("a job that is brought back waits for its dependencies, and fails again if one has ended badly")
    func retried() throws {
        try with(3) { (ledger) throws in
            #expect(depend(ledger, 2, after: [1]) == .done)
            #expect(depend(ledger, 3, after: [1]) == .done)
            end(ledger, 1, .failed)
            let hindered = try ledger.hindered(of: [2], bringingBack: [])
            #expect(hindered?.job == 2 && hindered?.after == 1 && hindered?.state == .failed)
            #expect(try ledger.hindered(of: [1, 2], bringingBack: []) == nil)
            #expect(try ledger.hindered(of: [2], bringingBack: [.failed]) == nil)
            ledger.requeue([job(2)]) {}
            ledger.requeue([job(1)]) {}
            #expect(ledger.flush(seconds: 30))
            #expect(try states(ledger) == ["queued", "waiting", "failed"])
            ledger.requeue([job(3)]) {}
            end(ledger, 1, .done)
            #expect(try states(ledger) == ["done", "queued", "queued"])
            // Job 3 is retried without the cancelled job 2, on which it depends, so job 3 fails.
            #expect(depend(ledger, 3, after: [2]) == .done)
            end(ledger, 2, .cancelled)
            ledger.requeue([job(3)]) {}
            ledger.followAll {}
            #expect(ledger.flush(seconds: 30))
            #expect(try states(ledger) == ["done", "cancelled", "failed"])
        }
    }

    @Test("forgotten jobs are no longer dependencies, unless they were never met")
    func forgotten() throws {
        try with(5) { (ledger) throws in
            #expect(depend(ledger, 3, after: [1]) == .done)
            #expect(depend(ledger, 4, after: [2]) == .done)
            end(ledger, 1, .done)
            end(ledger, 2, .failed)
            for id in 1...2 { ledger.recordDisposal(of: [(id, "/archive/\(id)")]) {} }
            ledger.forget(allBut: 100, endedBefore: 1e12) { #expect($0 == [.done: 1, .failed: 1]) }
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.neighbours(of: 3).after.count == 0)
            #expect(try ledger.neighbours(of: 4).after.jobs.map(\.state) == [nil])
            #expect(try ledger.hindered(of: [4], bringingBack: [.failed, .cancelled])?.after == 2)
            #expect(depend(ledger, 5, after: [1]) == .unknown(1))
            #expect(depend(ledger, 4, remove: [2]) == .done)
            #expect(try ledger.hindered(of: [4], bringingBack: []) == nil)
        }
    }

    @Test("a new job is recorded together with its dependencies, or not at all")
    func added() throws {
        try with(2) { (ledger) throws in
            let answers = Mutex<[NeedsAnswer]>([])
            ledger.insert([job(3)], after: [1, 2]) { answer in answers.withLock { $0.append(answer) } }
            ledger.insert([job(4), job(5)], after: [9]) { answer in answers.withLock { $0.append(answer) } }
            #expect(ledger.flush(seconds: 30))
            #expect(answers.withLock { $0 } == [.done, .unknown(9)])
            #expect(try states(ledger) == ["queued", "queued", "waiting"])
        }
    }

    @Test("a job that waited for room then waits for its dependencies; jobs with other reasons are unchanged")
    func holds() throws {
        try with(3) { (ledger) throws in
            ledger.setAside(.place("/out"), reason: "no space", except: [3]) { _ in }
            #expect(depend(ledger, 1, after: [3]) == .done)
            #expect(try ledger.job(1)?.waitReason == .after)
            ledger.bringBack(.place("/out"), except: [], at: 10) { #expect($0 == 1) }
            #expect(ledger.flush(seconds: 30))
            #expect(try states(ledger) == ["waiting", "queued", "queued"])
            var retrying = job(2, .waiting)
            retrying.waitReason = .retry
            ledger.record(retrying)
            #expect(depend(ledger, 2, after: [3]) == .begun(.waiting))
            end(ledger, 3, .failed)
            #expect(try states(ledger) == ["failed", "waiting", "failed"])
        }
    }

    @Test("a chain of a hundred thousand jobs, or as many behind one, is released in a few statements")
    func many() throws {
        let count = 100_000
        try withTemporaryFolder { folder in
            let path = "\(folder)/ledger.sqlite"
            let ledger = try Ledger(path: path)
            ledger.insert((1...count + 2).map { job($0) })
            #expect(ledger.flush(seconds: 120))
            // A chain of 100,000 jobs: each depends on the previous one.
            ledger.write { ledger in
                try ledger.writer.run(
                    "INSERT INTO needs (job, after) SELECT id, id - 1 FROM jobs WHERE id BETWEEN 2 AND 100000")
                try ledger.writer.run("UPDATE jobs SET state = 'waiting', hold = 'after' WHERE id BETWEEN 2 AND 100000")
            }
            #expect(ledger.flush(seconds: 120))
            #expect(depend(ledger, 1, after: [100_000]) == .circle([1] + (1...count).reversed()))
            ledger.cancelQueued(upTo: 1, JobChoice(), except: [], at: 2000) {
                #expect($0.queued == 1 && $0.waiting == 0)
            }
            #expect(ledger.flush(seconds: 120))
            #expect(try ledger.counts() == [.cancelled: 1, .failed: count - 1, .queued: 2])
            // All 100,000 jobs depend on a single job, which is then done.
            ledger.write { ledger in
                try ledger.writer.run("DELETE FROM needs")
                try ledger.writer.run("INSERT INTO needs (job, after) SELECT id, 100001 FROM jobs WHERE id <= 100000")
                try ledger.writer.run("UPDATE jobs SET state = 'waiting', hold = 'after' WHERE id <= 100000")
            }
            end(ledger, count + 1, .done)
            #expect(try ledger.counts() == [.queued: count + 1, .done: 1])
            #expect(try ledger.queued(limit: 2).map(\.id) == [1, 2])
        }
    }

    @Test("the queue is read by priority, then by position, without the jobs in the window")
    func priorities() throws {
        try with(6) { (ledger) throws in
            ledger.prioritise(JobChoice(ids: [5, 2]), .high) { #expect($0 == 2) }
            ledger.prioritise(JobChoice(ids: [1]), .low) { #expect($0 == 1) }
            end(ledger, 3, .done)
            #expect(try ledger.queued(limit: 10).map(\.id) == [2, 5, 4, 6, 1])
            #expect(try ledger.queued(atLeast: .high, except: [2], limit: 10).map(\.id) == [5])
            #expect(try ledger.queued(atLeast: .normal, except: [5], limit: 2).map(\.id) == [2, 4])
            ledger.prioritise(JobChoice(), .low) { #expect($0 == 5) }
            #expect(ledger.flush(seconds: 30))
            #expect(try ledger.queued(limit: 10).map(\.id) == [1, 2, 4, 5, 6])
        }
    }
}
