import DaemonInterface
import DaemonRuntime
import Foundation
import JobLedger
import JobModel
import OperationGraph
import PictureFiles
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls
import Testing

@testable import DaemonConfiguration
@testable import JobFlow

@Suite("Owners")
struct OwnerTests {
    // MARK: - Numbers and counts

    @Test("numbers continue after the highest known one, and a list's jobs get consecutive numbers")
    func numbers() {
        Coordination.sync {
            var numbers = JobNumbers()
            numbers.begin(after: (id: 7, position: 90, batch: 2))
            #expect(numbers.takeJobs(3) == (8, 91))
            #expect(numbers.takeJobs() == (11, 94))
            #expect(numbers.lastID == 11)
            #expect(numbers.takePositions(0) == 95 && numbers.takePositions(5) == 95 && numbers.takePositions() == 100)
            #expect(!numbers.knows(batch: 3) && !numbers.knows(batch: 0))
            #expect(numbers.takeBatch() == 3)
            #expect(numbers.knows(batch: 3))
        }
    }

    @Test("a state change counts once, and the daemon is idle when all jobs have ended")
    func counts() {
        Coordination.sync {
            #expect(!JobCounts().isBusy)
            var counts = JobCounts([.queued: 2, .done: 5])
            counts.move(from: .queued, to: .running)
            #expect(counts[.queued] == 1 && counts[.running] == 1 && counts.unended == 2)
            counts.move(2, from: .queued, to: .cancelled)
            counts.add([.running: 1, .done: 3], times: -1)
            #expect(counts[.done] == 2)
            // The number of queued jobs is unknown, but certainly no job is running.
            #expect(counts[.queued] == -1 && !counts.isBusy)
        }
    }

    // MARK: - Window

    @Test("rows enter the window by priority and position while there is room; high priorities may exceed it")
    func window() async throws {
        try await OwnersFixture.with("Window=8\n") { (fixture: OwnersFixture) async throws -> Void in
            #expect(fixture.insert((1...20).map { fixture.job($0, priority: $0 == 20 ? .high : .normal) }))
            Coordination.sync {
                let window = fixture.owners.jobs
                window.suspendFilling()
                window.fill()
                #expect(window.isEmpty)
                window.resumeFilling()
                #expect(Set(window.ids) == Set(1...7).union([20]))
                let first = window[1]
                #expect(first.map(fixture.owners.runner.takeBack) == true)
                #expect(window[1] == nil && window.count == 7)
            }
            #expect(fixture.insert((21...30).map { fixture.job($0, priority: .high) }))
            Coordination.sync {
                let window = fixture.owners.jobs
                window.fill()
                // Twelve jobs are four more than Window= allows.
                #expect(window.count == 12)
                window.close()
                for job in Array(window.all) { fixture.owners.runner.giveBack(job) }
                window.fill()
                #expect(window.isEmpty)
            }
        }
    }

    @Test("a new job enters the window without a query, unless other jobs precede it or the window is full")
    func inserted() async throws {
        try await OwnersFixture.with("Window=8\n") { (fixture: OwnersFixture) async throws -> Void in
            // These rows are not in the ledger. If the window read the ledger, it would not find them.
            Coordination.sync {
                let window = fixture.owners.jobs
                window.fill()
                window.suspendFilling()
                window.fill(inserted: [fixture.job(1)])
                #expect(window.isEmpty)
                window.resumeFilling(arrived: nil)
                window.fill(inserted: (1...6).map { fixture.job($0) } + [fixture.job(7, .cancelled)])
                window.fill(inserted: [fixture.job(6)])
                #expect(Set(window.ids) == Set(1...6))
            }
            #expect(fixture.insert([fixture.job(8), fixture.job(9), fixture.job(10)]))
            Coordination.sync {
                let window = fixture.owners.jobs
                window.fill(inserted: [fixture.job(8), fixture.job(9), fixture.job(10)])
                #expect(Set(window.ids) == Set(1...6).union([8, 9]))
                // Job 11 has to wait outside the window, so job 12, which has the same priority, must wait behind it.
                window.fill(inserted: [fixture.job(11)])
                if let first = window[1] { #expect(fixture.owners.runner.takeBack(first)) }
                window.fill(inserted: [fixture.job(12)])
                #expect(window[11] == nil && window[12] == nil)
                window.fill(inserted: [fixture.job(13, priority: .high)])
                #expect(window[13] != nil)
            }
        }
    }

    /// Runs `body` with twenty downloads from one host and four from another. The window contains as many of the first
    /// host's downloads as that host's share allows.
    private func withDownloads(_ window: Int, _ body: (OwnersFixture) async throws -> Void) async throws {
        try await OwnersFixture.with("Download=0\nWindow=\(window)\n") {
            (fixture: OwnersFixture) async throws -> Void in
            let jobs = (1...24).map { id in
                var job = fixture.job(id)
                let host = id <= 20 ? "example.org" : "example.net"
                (job.url, job.host, job.file) = ("http://\(host)/\(id).png", host, .none)
                return job
            }
            #expect(fixture.insert(jobs))
            Coordination.sync {
                fixture.owners.jobs.fill()
                #expect(Set(fixture.owners.jobs.ids) == Set(1...8).union(21...24))
            }
            try await body(fixture)
        }
    }

    @Test("a host whose downloads have finished gets as many new ones at once, even while rendering is paused")
    func refilledHost() async throws {
        try await withDownloads(64) { (fixture: OwnersFixture) async throws -> Void in
            let owners = fixture.owners
            await withCheckedContinuation { continuation in
                Coordination.async {
                    owners.queues.pause([owners.queues.render], reason: nil) { continuation.resume() }
                }
            }
            Coordination.sync {
                for id in 1...3 { if let job = owners.jobs[id] { owners.jobs.downloaded(job) } }
                // The window does not refill after each download, because a query for every job would cost more than
                // the job itself.
                #expect(owners.jobs.count == 12)
                if let job = owners.jobs[4] { owners.jobs.downloaded(job) }
                #expect(Set(owners.jobs.ids) == Set(1...12).union(21...24))
            }
        }
    }

    @Test("a host that gets room while the window is full continues with all others when the window has room")
    func refilledLater() async throws {
        try await withDownloads(12) { (fixture: OwnersFixture) async throws -> Void in
            let owners = fixture.owners
            Coordination.sync {
                for id in 1...4 { if let job = owners.jobs[id] { owners.jobs.downloaded(job) } }
                #expect(Set(owners.jobs.ids) == Set(1...8).union(21...24))
                if let job = owners.jobs[1] { owners.runner.finish(job, .cancelled) }
                #expect(Set(owners.jobs.ids) == Set(2...9).union(21...24))
            }
            await fixture.settle()
        }
    }

    // MARK: - Waiting

    @Test("a waiting client is told at once of jobs that are over, and of the others as they end")
    func waiters() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            var over = fixture.job(1, .done)
            over.disposed = true
            #expect(fixture.insert([over, fixture.job(2)]))
            let told = Mutex<[String]>([])
            @Sendable func tell(_ text: String) { told.withLock { $0.append(text) } }
            Coordination.sync {
                let waiters = fixture.owners.waiters
                let stuck = fixture.owners.originals.stuck
                stuck.add(fixture.job(2), because: "the disk")
                waiters.wait(
                    for: [1, 2],
                    Waiter(
                        each: { for end in $0 { tell("\(end.id)") } }, done: { tell("done") },
                        delayed: { tell("held up: \($0 ?? "no")") })
                )
                waiters.waitUntilStopped([1]) { tell("stopped") }
                stuck.forget([2])
                var second = fixture.job(2, .failed)
                second.disposed = true
                waiters.ended([second])
                waiters.ended([second])
            }
            #expect(
                told.withLock { $0 } == [
                    "1", "held up: job 2: the disk; this is tried again", "stopped", "held up: no", "2", "done",
                ])
        }
    }

    @Test("a retry that is due goes to the end of its queue; a retry that is not due waits for its time or for a user")
    func retries() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let waiting = (1...2).map { id in
                var job = fixture.job(id, .waiting)
                (job.waitReason, job.due) = (.retry, id == 1 ? 1 : Timestamp.now() + 60)
                return job
            }
            #expect(fixture.insert(waiting + [fixture.job(3)]))
            Coordination.sync {
                fixture.owners.jobs.begin(after: (3, 3, 0))
                fixture.owners.jobs.suspendFilling()
                fixture.owners.jobs.queueDue()
            }
            await fixture.settle()
            #expect(try fixture.ledger.queued(limit: 9).map(\.id) == [3, 1])
            #expect(fixture.count(.waiting) == 1)
            let early = await withCheckedContinuation { continuation in
                Coordination.async { fixture.owners.jobs.queueEarly(nil) { continuation.resume(returning: $0) } }
            }
            #expect(early == [2])
            #expect(try fixture.ledger.queued(limit: 9).map(\.id) == [3, 1, 2])
        }
    }

    // MARK: - Shortages

    @Test("a shortage is reported once and its jobs wait; it ends when the last affected job gets an answer")
    func shortages() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            #expect(fixture.insert([fixture.job(1), fixture.job(2)]))
            let outbox = fixture.job(1).order.outbox
            Coordination.sync {
                let shortages = fixture.owners.shortages
                fixture.owners.jobs.fill()
                #expect(fixture.owners.jobs.count == 2)
                #expect(shortages.begin(noAnswerFrom: outbox, for: 8) == "\(outbox) does not answer")
                #expect(shortages.begin(noAnswerFrom: outbox, for: 9) == "\(outbox) does not answer")
                #expect(shortages.problems == ["\(outbox) does not answer; its work goes on when it answers"])
                #expect(shortages.first(where: fixture.job(1).needs) == .place(outbox))
            }
            await fixture.settle()
            await fixture.settle()
            #expect(try fixture.ledger.job(1)?.reason == "\(outbox) does not answer")
            Coordination.sync {
                #expect(fixture.owners.jobs.counts[.waiting] == 2)
                let shortages = fixture.owners.shortages
                shortages.answered(8)
                #expect(shortages[.place(outbox)] != nil)
                shortages.answered(9)
                #expect(shortages.problems == [])
            }
            await fixture.settle()
            Coordination.sync { #expect(fixture.owners.jobs.count == 2 && fixture.owners.jobs.counts[.queued] == 2) }
        }
    }

    @Test("a filter's crashes are forgiven when a picture passes, and each picture counts once")
    func crashes() throws {
        try Coordination.sync {
            var crashes = FilterCrashes()
            let chain = try Chain(parsing: "save", catalog: .builtIn)
            let order = WorkOrder(
                recipe: "r", adHoc: false, outputs: [RecipeOutput(name: nil, chain: chain)], original: .archive,
                conflict: .number, outbox: "/out", inbox: "/in")
            #expect(crashes.add("save", with: "a.png") == 1)
            #expect(crashes.add("save", with: "a.png") == 1)
            #expect(crashes.add("save", with: "b.png") == 2)
            #expect(crashes.add("noir", with: "b.png") == 1)
            crashes.passed(order)
            #expect(crashes.add("save", with: "c.png") == 1)
            #expect(crashes.add("noir", with: "c.png") == 2)
            crashes.forget()
            #expect(crashes.add("noir", with: "d.png") == 1)
        }
    }

    // MARK: - Queues

    @Test("a limit that was set survives a reload, and also a restart once it is kept")
    func limits() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let owners = fixture.owners
            Coordination.sync {
                owners.queues.set(.count(3), of: owners.queues.publish)
                owners.queues.adopt(owners.configuration.settings)
                #expect(owners.queues.publish.report.effective == 3)
                #expect(owners.queues.live(of: "publish")?.isSaved == false)
                #expect(owners.queues.live(of: "render") == nil)
            }
            let error = await withCheckedContinuation { continuation in
                Coordination.async {
                    owners.queues.save(.count(3), of: owners.queues.publish) { continuation.resume(returning: $0) }
                }
            }
            #expect(error == nil)
            Coordination.sync { #expect(owners.queues.live(of: "publish")?.isSaved == true) }
            #expect(try String(contentsOfFile: fixture.places.saved, encoding: .utf8).contains("Publish=3"))
        }
    }

    @Test("a paused queue starts nothing until it is resumed, and the pause is recorded")
    func pauses() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            #expect(fixture.insert([fixture.job(1)]))
            let owners = fixture.owners
            let queues = Coordination.sync { owners.queues }
            await withCheckedContinuation { continuation in
                Coordination.async { owners.queues.pause([queues.render], reason: "lunch") { continuation.resume() } }
            }
            #expect(queues.waitReason(.render) == "paused: lunch")
            #expect(try fixture.ledger.pausedQueues() == ["render": "lunch"])
            Coordination.sync {
                owners.jobs.fill()
                #expect(owners.jobs.isEmpty)
            }
            await withCheckedContinuation { continuation in
                Coordination.async { owners.queues.resume([queues.render]) { continuation.resume() } }
            }
            #expect(queues.waitReason(.render) == nil)
            #expect(try fixture.ledger.pausedQueues().isEmpty)
            Coordination.sync { #expect(owners.jobs.ids == [1]) }
        }
    }

    // MARK: - Ends

    @Test("an ended job's original moves once, and then the job's waiting clients are told")
    func disposal() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            var job = fixture.job(1, .cancelled)
            job.finished = 2000
            let folder = "\(fixture.places.spool)/1"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data("picture".utf8).write(to: URL(filePath: job.source))
            job.file = try #require(try FileSystem.status(job.source)).identity
            #expect(fixture.insert([job]))
            await withCheckedContinuation { continuation in
                Coordination.async { [job] in
                    fixture.owners.waiters.wait(for: [1], Waiter(each: { _ in }, done: { continuation.resume() }))
                    fixture.owners.originals.dispose(job)
                    fixture.owners.originals.disposeBacklog()
                }
            }
            #expect(FileManager.default.fileExists(atPath: "\(fixture.places.cancelled)/r/1.png"))
            #expect(!FileManager.default.fileExists(atPath: folder))
            #expect(try fixture.ledger.job(1)?.isOver == true)
        }
    }

    @Test("originals that an earlier run left are moved, unless the stop allows no more time")
    func backlog() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let originals = Coordination.sync { fixture.owners.originals }
            func dispose() async {
                await withCheckedContinuation { continuation in
                    Coordination.sync { originals.disposeBacklog() }
                    originals.whenDisposed { continuation.resume() }
                }
            }
            let (first, second) = (
                try fixture.ended(1, .cancelled, at: "\(fixture.places.spool)/1/1.png"),
                try fixture.ended(2, .cancelled, at: "\(fixture.places.spool)/2/2.png")
            )
            #expect(fixture.insert([first]))
            await dispose()
            #expect(fixture.exists("\(fixture.places.cancelled)/r/1.png"))
            #expect(try fixture.ledger.job(1)?.isOver == true)
            #expect(fixture.insert([second]))
            Coordination.sync { originals.leaveRest() }
            await dispose()
            #expect(fixture.exists(second.source))
        }
    }

    @Test("the original of an undone job moves like any other, and its arrival is reported")
    func undo() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            var job = try fixture.ended(1, .done, at: "\(fixture.places.archive)/r/1.png")
            (job.disposed, job.origin) = (true, .claimed)
            #expect(fixture.insert([job]))
            let (news, listener) = fixture.listen()
            let outcome = await withCheckedContinuation { continuation in
                Coordination.async { [job] in
                    let originals = fixture.owners.originals
                    originals.delegate = listener
                    originals.undo([job], to: nil) { continuation.resume(returning: $0) }
                }
            }
            for await _ in news { break }
            withExtendedLifetime(listener) {}
            #expect(outcome.undone == [1] && outcome.refused.isEmpty)
        }
    }

    @Test("ended jobs beyond HistoryJobs= are forgotten periodically, and no longer counted")
    func history() async throws {
        try await OwnersFixture.with("[Daemon]\nHistoryJobs=8\n") { (fixture: OwnersFixture) async throws -> Void in
            let jobs = (1...12).map { id in
                var job = fixture.job(id, .done)
                (job.finished, job.disposed) = (Timestamp.now(), true)
                return job
            }
            #expect(fixture.insert(jobs))
            #expect(try fixture.ledger.counts()[.done] == 12)
            Coordination.sync {
                let owners = fixture.owners
                owners.keeping.ended(1)
            }
            while fixture.count(.done) != 8 { await fixture.settle() }
            #expect(try fixture.ledger.counts()[.done] == 8)
        }
    }
}
