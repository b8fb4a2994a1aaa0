import Foundation
import PipelineModel
import SystemCalls
import TestTools
import Testing

@testable import JobLedger
@testable import PipelineDaemon

@Suite("Hooks of a ledger that can't be read at first")
struct HookCursorTests {
    @Test("go on where they were: what was published before runs once, not never and not twice")
    func unreadable() async throws {
        try await withTemporaryFolder { folder in
            let program = "\(folder)/hook"
            try Data("#!/bin/sh\necho run >>\(folder)/runs\n".utf8).write(to: URL(fileURLWithPath: program))
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
            let path = "\(folder)/ledger.sqlite"
            let ledger = try Ledger(path: path)
            let order = WorkOrder(
                recipe: "r", adHoc: false, outputs: [], original: .archive, conflict: .number, outbox: "/out",
                inbox: "/in")
            ledger.insert([
                JobRecord(
                    id: 1, position: 1, order: order, path: "1.png", origin: .claimed, source: "/in/.pipelined/0/1.png",
                    file: FileStatus.Identity(device: 1, inode: 1, size: 10, modified: 20), state: .done, created: 1000)
            ])
            ledger.record(hook: "r", Ledger.HookRecord(cursor: 0))
            ledger.append(LoggedEvent(kind: "picture", job: 1, state: .done))
            #expect(ledger.flush(seconds: 30))

            let other = try Database(path: path)
            try other.script("ALTER TABLE hooks RENAME TO away")
            let failed = AsyncStream<Void>.makeStream()
            ledger.readFailed { failed.continuation.yield() }
            let hooks = Hooks(ledger: ledger, places: Places.below(folder))
            hooks.set(["r": Hooks.Order(program: program, occasions: [.done])], timeout: .seconds(60))
            for await _ in failed.stream { break }
            try other.script("ALTER TABLE away RENAME TO hooks")
            while !FileManager.default.fileExists(atPath: "\(folder)/runs") { await Look.again() }
            await withCheckedContinuation { continuation in hooks.stop(within: .seconds(60)) { continuation.resume() } }
            #expect(try String(contentsOfFile: "\(folder)/runs", encoding: .utf8) == "run\n")
        }
    }
}
