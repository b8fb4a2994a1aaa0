import Foundation
import JobModel
import PipelineModel
import ServiceProgram
import SystemCalls
import TestTools
import Testing

@testable import JobFlow
@testable import JobLedger
@testable import PictureFiles

@Suite("The positions of hooks")
struct HookCursorTests {
    private struct Fixture {
        let folder: String
        let program: String
        let ledger: Ledger
        let hooks: Hooks
        var runs: String { "\(folder)/runs" }
        var path: String { "\(folder)/ledger.sqlite" }

        init(_ folder: String, _ script: String) throws {
            self.folder = folder
            program = "\(folder)/hook"
            try Data("#!/bin/sh\ncd \(folder)\n\(script)\n".utf8).write(to: URL(fileURLWithPath: program))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
            ledger = try Ledger(path: "\(folder)/ledger.sqlite")
            hooks = Hooks(ledger: ledger, places: Places.below(folder)) { news in
                Array((news.results ?? []).map { $0 + "\n" }.joined().utf8)
            }
            ledger.record(hook: "r", Ledger.HookRecord(cursor: 0))
        }

        /// Records a done job and the event for which its hook runs.
        func finish(_ id: Int) {
            insert([id])
            ledger.append(LoggedEvent(kind: "picture", job: id, state: .done))
            #expect(ledger.flush(seconds: 30))
        }

        /// Records done jobs.
        func insert(_ ids: some Sequence<Int>, of recipe: String = "r", batch: Int? = nil) {
            let order = WorkOrder(
                recipe: recipe, adHoc: false, outputs: [], original: .archive, conflict: .number, outbox: "/out",
                inbox: "/in")
            ledger.insert(
                ids.map { id in
                    JobRecord(
                        id: id, position: id, batch: batch, order: order, path: "\(id).png", origin: .claimed,
                        source: "/in/.pipelined/0/\(id).png",
                        file: FileStatus.Identity(device: 1, inode: id, size: 10, modified: 20), state: .done,
                        created: 1000)
                })
        }

        func begin(_ occasions: Set<HookOccasion> = [.done]) {
            hooks.set(["r": Hooks.Order(program: program, occasions: occasions)], timeout: .seconds(60))
        }

        func stop() async {
            await withCheckedContinuation { continuation in hooks.stop(within: .seconds(60)) { continuation.resume() } }
        }

        /// Waits until the hook has written `count` lines; returns its lines.
        func lines(_ count: Int) async -> [String] {
            while true {
                let text = (try? String(contentsOfFile: runs, encoding: .utf8)) ?? ""
                let lines = text.split(separator: "\n").map(String.init)
                if lines.count >= count { return lines }
                await Look.again()
            }
        }
    }

    @Test("events from before the ledger could be read run their hook exactly once")
    func unreadable() async throws {
        try await withTemporaryFolder { folder in
            let fixture = try Fixture(folder, "echo run >>runs")
            fixture.finish(1)
            let other = try Database(path: fixture.path)
            try other.script("ALTER TABLE hooks RENAME TO away")
            let failures = ReadFailures()
            fixture.ledger.connect(failures)
            fixture.begin()
            for await _ in failures.stream.stream { break }
            try other.script("ALTER TABLE away RENAME TO hooks")
            _ = await fixture.lines(1)
            await fixture.stop()
            #expect(await fixture.lines(1) == ["run"])
        }
    }

    @Test("a held recipe's hook keeps its position, and runs later for the events that occurred meanwhile")
    func held() async throws {
        try await withTemporaryFolder { folder in
            let fixture = try Fixture(folder, "echo run >>runs")
            fixture.finish(1)
            fixture.hooks.set([:], timeout: .seconds(60), keeping: ["r"])
            await withCheckedContinuation { continuation in fixture.hooks.async { _ in continuation.resume() } }
            #expect(fixture.ledger.flush(seconds: 30))
            #expect(try fixture.ledger.hooks().keys.sorted() == ["r"])
            fixture.begin()
            _ = await fixture.lines(1)
            await fixture.stop()
            #expect(await fixture.lines(1) == ["run"])
        }
    }

    @Test(
        "a removed hook's position is forgotten: a new hook starts with the events that follow"
    )
    func gone() async throws {
        try await withTemporaryFolder { folder in
            let fixture = try Fixture(folder, "echo $PIPELINED_JOB >>runs")
            fixture.finish(1)
            fixture.hooks.set([:], timeout: .seconds(60))
            await withCheckedContinuation { continuation in fixture.hooks.async { _ in continuation.resume() } }
            #expect(fixture.ledger.flush(seconds: 30))
            #expect(try fixture.ledger.hooks().isEmpty)
            fixture.begin()
            fixture.finish(2)
            fixture.hooks.eventsAppended()
            #expect(await fixture.lines(1) == ["2"])
            await fixture.stop()
        }
    }

    @Test("when an event is forgotten, no hook runs for another event in its place")
    func forgotten() async throws {
        try await withTemporaryFolder { folder in
            let fixture = try Fixture(folder, "echo $PIPELINED_JOB >>runs\nread line <gate")
            #expect(mkfifo("\(folder)/gate", 0o600) == 0)
            let gate = try Descriptor.open("\(folder)/gate", O_RDWR)
            for id in 1...3 { fixture.finish(id) }
            fixture.begin()
            #expect(await fixture.lines(1) == ["1"])
            try Database(path: fixture.path).script("DELETE FROM events WHERE job = 2")
            try gate.write(Array("\n".utf8), called: "gate")
            #expect(await fixture.lines(2) == ["1", "3"])
            try gate.write(Array("\n\n".utf8), called: "gate")
            await fixture.stop()
            #expect(await fixture.lines(2) == ["1", "3"])
        }
    }
    @Test("the end of a batch of 20,000 pictures gives the hook the path of each result, in the order of the jobs")
    func results() async throws {
        try await withTemporaryFolder { folder in
            let script = "cat >results; echo $PIPELINED_OCCASION $PIPELINED_BATCH $PIPELINED_PICTURES >>runs"
            let fixture = try Fixture(folder, script)
            fixture.insert(1...20_000, batch: 7)
            fixture.ledger.append(LoggedEvent(kind: "batch", text: "arrived", batch: 7))
            fixture.ledger.append(LoggedEvent(kind: "batch", text: "ended", batch: 7))
            #expect(fixture.ledger.flush(seconds: 60))
            // Record the second result of each job as an older version did.
            try Database(path: fixture.path).script(
                """
                UPDATE jobs SET outputs = json_array(json_object('path', '/out/a long folder''s name/' || id || '.jpg'),
                    '/out/' || id || '.small.jpg')
                """)
            fixture.begin([.batch])
            #expect(await fixture.lines(1) == ["batch 7 20000"])
            await fixture.stop()
            let wanted = (1...20_000).map { "/out/a long folder's name/\($0).jpg\n/out/\($0).small.jpg\n" }.joined()
            let got = try String(contentsOfFile: "\(folder)/results", encoding: .utf8)
            #expect(got == wanted, "\(got.count) characters instead of \(wanted.count)")
        }
    }

    @Test("the end of a batch of several recipes runs the hook of each recipe once")
    func recipes() async throws {
        try await withTemporaryFolder { folder in
            let fixture = try Fixture(folder, "echo $PIPELINED_RECIPE $PIPELINED_BATCH >>runs")
            fixture.insert([1, 4], of: "s", batch: 7)
            fixture.insert([2, 3], batch: 7)
            fixture.ledger.append(LoggedEvent(kind: "batch", text: "ended", batch: 7))
            #expect(fixture.ledger.flush(seconds: 30))
            let found = try fixture.ledger.announcements(after: 0, limit: 1)
            #expect(found.found.map(\.recipe).sorted() == ["r", "s"])
            fixture.begin([.batch])
            #expect(await fixture.lines(1) == ["r 7"])
            await fixture.stop()
            #expect(await fixture.lines(1) == ["r 7"])
        }
    }
}
