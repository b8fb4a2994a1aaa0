import DaemonRuntime
import Dispatch
import ServiceProgram
package import Synchronization
import SystemCalls
import WorkerPools

/// Performs the work of all jobs on one outbox, on a queue of its own, so that a hanging disk blocks no other outbox.
/// Each job submits its work as a `Turn`. Turns that arrive together form a group: all files of a group are written to
/// the disk together, and each changed folder is synced once for the whole group.
package final class OutboxLine: Sendable {
    package struct Turn: Sendable {
        /// Files to make durable before `work` runs.
        package var files: [ImageHandle.Staged] = []
        /// Runs when the files are durable; returns the folders to make durable afterwards.
        package var work: @Sendable () throws -> Set<String>
        /// Called with nil once the files and folders are durable, or with the error that prevented this.
        package var done: @Sendable ((any Error)?) -> Void

        package init(
            files: [ImageHandle.Staged] = [], work: @escaping @Sendable () throws -> Set<String>,
            done: @escaping @Sendable ((any Error)?) -> Void
        ) {
            (self.files, self.work, self.done) = (files, work, done)
        }
    }

    private let queue = DispatchQueue(label: "pipelined.outbox")
    /// Names that jobs in flight have chosen in this outbox. The lock is held while names are looked up on the outbox's
    /// disk.
    package let reserved = Mutex<Set<String>>([])
    private let waiting = Mutex<[Turn]>([])
    /// Called while many results arrive together; returns whether to wait for the results of other jobs in flight.
    private let awaitsOthers: @Sendable () -> Bool
    /// Delays a group if the previous group had several turns, so a single job never waits. Used only on `queue`.
    private let spacing = Mutex(Spacing())

    package init(awaitsOthers: @escaping @Sendable () -> Bool = { false }) { self.awaitsOthers = awaitsOthers }

    package func take(_ turn: Turn) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(turn)
            return waiting.count == 1
        }
        if isFirst { queue.async { self.go() } }
    }

    /// Maximum number of files open together, unless a single turn has more.
    private static let mostFiles = 64

    private func go() {
        spacing.withLock { $0.keep(while: awaitsOthers) }
        let (turns, isLast) = waiting.withLock { waiting in
            var files = 0
            let fitting = waiting.prefix { turn in
                files += turn.files.count
                return files <= Self.mostFiles
            }
            // Turns beyond the limit form the next group. If they change a folder that this group has synced already,
            // the next group syncs that folder again.
            let turns = fitting.isEmpty ? Array(waiting.prefix(1)) : Array(fitting)
            waiting.removeFirst(turns.count)
            return (turns, waiting.isEmpty)
        }
        defer { if !isLast { queue.async { self.go() } } }
        if turns.count == 1 { spacing.withLock { $0.forget() } }
        let begun = turns.map { $0.files.map(StagingSync.init) }
        let outcomes = zip(turns, begun).map { turn, files in
            Result {
                for file in files { try file.finish() }
                return try turn.work()
            }
        }
        var failures: [String: any Error] = [:]
        for folder in Set(outcomes.flatMap { (try? $0.get()) ?? [] }) {
            do { try FileSystem.sync(folder) } catch { failures[folder] = error }
        }
        for (turn, outcome) in zip(turns, outcomes) {
            switch outcome {
            case .success(let folders): turn.done(folders.compactMap { failures[$0] }.first)
            case .failure(let error): turn.done(error)
            }
        }
    }
}
