import Foundation
import PipelineControl
import SystemCalls
import TestTools
import Testing

/// A real daemon with real workers in a root of its own. The daemon is stopped and the root removed at the end.
final class DaemonFixture {
    let root: URL
    private var daemon: DaemonProcess?
    /// The cursor of the last event for which `job(_:becomes:)` has returned, by input and state.
    private var waitedFor: [String: Int] = [:]

    private init() throws {
        root = FileManager.default.temporaryDirectory.appendingPathComponent("pipelined-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    }

    /// Runs `body` with a daemon that is ready. The `files`, such as `etc/recipes.d/small.recipe`, are first written
    /// below the root.
    static func with(
        _ files: [String: String] = [:], started: Bool = true, _ body: (DaemonFixture) async throws -> Void
    ) async throws {
        let fixture = try DaemonFixture()
        for (path, text) in files { try fixture.write(text, to: path) }
        do {
            if started { try await fixture.start() }
            try await body(fixture)
        } catch {
            fixture.daemon?.kill()
            Issue.record("the daemon's log:\n\(fixture.log)")
            fixture.remove()
            throw error
        }
        fixture.daemon?.kill()
        fixture.remove()
    }

    // MARK: - The daemon's life

    var log: String { daemon?.log ?? "" }

    /// Starts the daemon, and waits until it reports that it is ready.
    func start(under wrapper: [String] = [], passing descriptors: [Descriptor] = []) async throws {
        try launch(under: wrapper, passing: descriptors)
        try await daemon?.ready()
    }

    func launch(under wrapper: [String] = [], passing descriptors: [Descriptor] = []) throws {
        daemon = try DaemonProcess(root: root.path, wrapper: wrapper, passed: descriptors)
    }

    func says(_ text: String) async throws { try await logged { $0.contains(text) } }

    func logged(_ condition: @escaping @Sendable (String) -> Bool) async throws { try await daemon?.until(condition) }

    /// Sends the daemon a signal, and waits for its exit. Returns the exit status, or the negative number of the signal
    /// that killed it.
    @discardableResult
    func stop(_ signal: Int32 = SIGTERM) async -> Int32 {
        await daemon?.end(signal) ?? 0
    }

    /// Starts the daemon under a command that should kill it. If the daemon survives until all its work is done, stops
    /// the daemon and returns false.
    func isKilled(under wrapper: [String], by work: (() async throws -> Void)? = nil) async throws -> Bool {
        do {
            try await start(under: wrapper)
            if let work { try await work() } else { try await waitForAll() }
            return await stop() == -SIGKILL
        } catch {
            // The daemon was killed, so its clients failed. Signal 0 is never delivered: this only waits for the exit.
            return await stop(0) == -SIGKILL
        }
    }

    var isRunning: Bool { daemon?.isRunning ?? false }

    var process: Int32 { daemon?.identifier ?? -1 }

    /// The number of the daemon's threads that are blocked on a disk.
    var blockedThreads: Int {
        get throws {
            let tasks = "/proc/\(process)/task"
            return try FileManager.default.contentsOfDirectory(atPath: tasks).count { thread in
                let status = try? String(contentsOfFile: "\(tasks)/\(thread)/status", encoding: .utf8)
                return status?.contains("State:\tD") == true
            }
        }
    }

    /// Returns the process IDs of the daemon's workers.
    func workers() throws -> [Int32] {
        // The name prefix excludes children that are just starting: these still have the daemon's name and open files.
        try Children.of(process, named: "pipelined-")
    }

    /// Waits until a worker has the picture with this name open; returns the worker's process ID.
    func worker(holding name: String) async throws -> Int32 {
        try await event { $0.job?.input == name && $0.job?.state == "running" }
        while true {
            for worker in try workers() where holds(worker, name) { return worker }
            if try !list(["queued", "waiting", "running"]).contains(where: { $0.input.hasSuffix(name) }) { break }
            await Task.yield()
        }
        throw Missing("no worker has ever held \(name)")
    }

    func holds(_ process: Int32, _ name: String) -> Bool {
        let folder = "/proc/\(process)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.contains { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(number)")
            return target?.hasSuffix("/\(name)") ?? false
        }
    }

    private func remove() { try? FileManager.default.removeItem(at: root) }

    // MARK: - Files

    /// Turns this root into a copy of another daemon's root. That daemon must be stopped, and must never have had a
    /// job.
    func copy(_ other: URL) async throws {
        let copied = try await Programs.run(path: "/usr/bin/cp", ["-a", "\(other.path)/.", root.path])
        try #require(copied.status == 0, "\(copied.errors)")
        // This file contains the root's path. If it contained the old path, the daemon would change the ledger's paths,
        // as it does after a move.
        try write("\(root.path)\n", to: "state/place")
    }

    func path(_ relative: String) -> String { root.appendingPathComponent(relative).path }

    func write(_ text: String, to relative: String) throws { try write(Data(text.utf8), to: relative) }

    func write(_ data: Data, to relative: String) throws {
        let file = root.appendingPathComponent(relative)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }

    /// Moves a file into an inbox with one rename, as `mv` does.
    func drop(_ data: Data = Picture.small, as relative: String, inbox: String = "inbox") throws {
        let outside = root.appendingPathComponent("outside-\(UUID().uuidString)")
        try data.write(to: outside)
        let target = root.appendingPathComponent(inbox).appendingPathComponent(relative)
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.moveItem(at: outside, to: target)
    }

    func exists(_ relative: String) -> Bool { FileManager.default.fileExists(atPath: path(relative)) }

    func has(_ relative: String) async throws {
        while !exists(relative) {
            guard isRunning else { throw Missing("the daemon is gone, and \(relative) is not there") }
            await Look.again()
        }
    }

    func data(_ relative: String) throws -> Data { try Data(contentsOf: root.appendingPathComponent(relative)) }

    func text(_ relative: String) throws -> String { String(decoding: try data(relative), as: UTF8.self) }

    /// Returns all files below a folder, sorted, including hidden files.
    func files(in relative: String) -> [String] {
        let folder = path(relative)
        guard let walk = FileManager.default.enumerator(atPath: folder) else { return [] }
        return walk.compactMap { $0 as? String }.filter { name in
            var isFolder: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder)
            return !isFolder.boolValue
        }.sorted()
    }

    /// Runs SQL statements on the ledger without the daemon's knowledge; returns the first column of the results.
    @discardableResult
    func ledger(_ statements: String) async throws -> [String] {
        let script = """
            import sqlite3, sys
            with sqlite3.connect(sys.argv[1]) as ledger:
                for statement in sys.argv[2].split(";"):
                    for row in ledger.execute(statement): print(row[0])
            """
        let outcome = try await Python.run(script, path("state/ledger.sqlite"), statements)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return outcome.lines
    }

    // MARK: - Control

    func client() throws -> ControlClient { try ControlClient(path: path("run/control.sock")) }

    func call<Call: ControlCall>(_ call: Call) throws -> Call.Reply { try client().call(call) }

    func status() throws -> Control.Overview { try call(Call.Status()).status }

    func list(_ states: [String] = []) throws -> [Control.Job] { try call(Call.List(states: states)).jobs }

    func pipectl(_ arguments: String...) async throws -> Outcome {
        try await Programs.run("pipectl", ["--root", root.path] + arguments)
    }

    /// Waits until no job or file is settling, waiting or running; returns the jobs that ended meanwhile.
    @discardableResult
    func waitForAll() async throws -> [Control.Job] { try await wait([]) }

    @discardableResult
    func wait(_ ids: [Int]) async throws -> [Control.Job] {
        let client = try client()
        return try await elsewhere {
            var ended: [Control.Job] = []
            try client.stream(Call.Wait(ids: ids)) {
                ended += $0.jobs
                return true
            }
            return ended
        }
    }

    /// Waits for the first event after the cursor that `matches`.
    @discardableResult
    func event(
        since cursor: Int = 0, _ matches: @escaping @Sendable (Control.Event) -> Bool
    ) async throws -> Control.Event {
        let client = try client()
        return try await elsewhere {
            var found: Control.Event?
            try client.stream(Call.Watch(cursor: cursor)) { reply in
                found = reply.events.first(where: matches)
                return found == nil
            }
            return try #require(found)
        }
    }

    /// Returns the events after the cursor, up to and including the first event for which `ends` returns true.
    func events(
        since cursor: Int, until ends: @escaping @Sendable (Control.Event) -> Bool
    ) async throws -> [Control.Event] {
        let client = try client()
        return try await elsewhere {
            var events: [Control.Event] = []
            try client.stream(Call.Watch(cursor: cursor)) { reply in
                events += reply.events
                return !reply.events.contains(where: ends)
            }
            return events
        }
    }

    /// Returns the progress replies, up to and including the first reply for which `ends` returns true. If there is no
    /// such reply, returns all replies until the batch ends.
    @discardableResult
    func progress(
        of batch: Int? = nil, until ends: @escaping @Sendable (Call.Progress.Reply) -> Bool = { _ in false }
    ) async throws -> [Call.Progress.Reply] {
        let client = try client()
        return try await elsewhere {
            var told: [Call.Progress.Reply] = []
            try client.stream(Call.Progress(batch: batch)) { reply in
                told.append(reply)
                return !ends(reply)
            }
            return told
        }
    }

    /// Waits until a job with this input reaches this state. A further call with the same arguments waits until a job
    /// reaches the state again. Ignores the end of a job that was retried or redone later.
    @discardableResult
    func job(_ input: String, becomes state: String) async throws -> Int {
        while true {
            let event = try await event(since: waitedFor["\(input) \(state)"] ?? 0) {
                $0.job?.input == input && $0.job?.state == state && $0.kind == "job"
            }
            waitedFor["\(input) \(state)"] = event.cursor
            let id = try #require(event.job?.id)
            guard ["done", "failed", "cancelled"].contains(state) else { return id }
            if try call(Call.ListIDs(states: [state])).ranges.contains(where: { $0.first...$0.last ~= id }) {
                return id
            }
        }
    }

    /// Runs blocking calls on a thread of their own, because the test runner has few threads.
    func elsewhere<Value: Sendable>(_ body: @escaping () throws -> Value) async throws -> Value {
        let work = Unshared(body: body)
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try work.body() }) }
        }
    }
}

/// `@unchecked`: a single thread receives the value, and only that thread uses it.
private struct Unshared<Value>: @unchecked Sendable {
    let body: () throws -> Value
}

struct Missing: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
