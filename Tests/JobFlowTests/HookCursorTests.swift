import DaemonRuntime
import Foundation
import JobModel
import PipelineModel
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
            hooks = Hooks(ledger: ledger, places: Places.below(folder)) { _, _, _ in [] }
            ledger.record(hook: "r", Ledger.HookRecord(cursor: 0))
        }

        /// Records a done job and the event for which its hook runs.
        func finish(_ id: Int) {
            let order = WorkOrder(
                recipe: "r", adHoc: false, outputs: [], original: .archive, conflict: .number, outbox: "/out",
                inbox: "/in")
            ledger.insert([
                JobRecord(
                    id: id, position: id, order: order, path: "\(id).png", origin: .claimed,
                    source: "/in/.pipelined/0/\(id).png",
                    file: FileStatus.Identity(device: 1, inode: id, size: 10, modified: 20), state: .done,
                    created: 1000)
            ])
            ledger.append(LoggedEvent(kind: "picture", job: id, state: .done))
            #expect(ledger.flush(seconds: 30))
        }

        func begin() {
            hooks.set(["r": Hooks.Order(program: program, occasions: [.done])], timeout: .seconds(60))
        }

        func stop() async {
            await withCheckedContinuation { continuation in hooks.stop(within: .seconds(60)) { continuation.resume() } }
        }

        /// Returns the lines that the hook has written, once there are `count` of them.
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
            let failed = AsyncStream<Void>.makeStream()
            fixture.ledger.readFailed { failed.continuation.yield() }
            fixture.begin()
            for await _ in failed.stream { break }
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
}
