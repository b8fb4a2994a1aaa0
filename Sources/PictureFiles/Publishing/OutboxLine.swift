import DaemonRuntime
import Dispatch
package import Synchronization
import SystemCalls
import WorkerPools

/// Does the jobs' work on the disk of an outbox, on its own thread: a hanging disk holds up no other. Turns that arrive
/// together form a batch: the disk gets all their files at once, and one sync makes a folder durable for every turn
/// that changed it.
package final class OutboxLine: Sendable {
    package struct Turn: Sendable {
        /// Files to make durable first.
        package var files: [ImageHandle.Staged] = []
        /// Runs next; returns the folders to make durable afterwards.
        package var work: @Sendable () throws -> Set<String>
        /// Called without an error once all of that survives a power cut.
        package var done: @Sendable ((any Error)?) -> Void

        package init(
            files: [ImageHandle.Staged] = [], work: @escaping @Sendable () throws -> Set<String>,
            done: @escaping @Sendable ((any Error)?) -> Void
        ) {
            (self.files, self.work, self.done) = (files, work, done)
        }
    }

    private let queue = DispatchQueue(label: "pipelined.outbox")
    /// Names that jobs in flight have chosen in this outbox. The lock is held during look-ups on its disk.
    package let reserved = Mutex<Set<String>>([])
    private let waiting = Mutex<[Turn]>([])
    /// Says in a burst whether results in flight are worth waiting for.
    private let awaitsOthers: @Sendable () -> Bool
    /// Delays a batch if the previous one had several turns; a job on its own never waits. Used on the queue alone.
    private let spacing = Mutex(Spacing())

    package init(awaitsOthers: @escaping @Sendable () -> Bool = { false }) { self.awaitsOthers = awaitsOthers }

    package func take(_ turn: Turn) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(turn)
            return waiting.count == 1
        }
        if isFirst { queue.async { self.go() } }
    }

    /// Maximum files open together, unless a single turn has more.
    private static let mostFiles = 64

    private func go() {
        spacing.withLock { $0.keep(while: awaitsOthers) }
        let (turns, isLast) = waiting.withLock { waiting in
            var files = 0
            let fitting = waiting.prefix { turn in
                files += turn.files.count
                return files <= Self.mostFiles
            }
            // A later turn may change a folder after its sync, so it goes into a later batch.
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
