import DaemonRuntime
import Dispatch
package import Synchronization
import SystemCalls
import WorkerPools

/// The work of jobs on the disk of an outbox, on a thread of its own: a disk that hangs holds up no other. Turns that
/// came together go together, so that the disk gets all files at once, and one call makes a folder durable for all who
/// have changed it.
package final class OutboxLine: Sendable {
    package struct Turn: Sendable {
        /// First these are made durable.
        package var files: [ImageHandle.Staged] = []
        /// Then this is done; returns the folders that are to be made durable, too.
        package var work: @Sendable () throws -> Set<String>
        /// All of that survives a power cut when this is called without an error.
        package var done: @Sendable ((any Error)?) -> Void

        package init(
            files: [ImageHandle.Staged] = [], work: @escaping @Sendable () throws -> Set<String>,
            done: @escaping @Sendable ((any Error)?) -> Void
        ) {
            (self.files, self.work, self.done) = (files, work, done)
        }
    }

    private let queue = DispatchQueue(label: "pipelined.outbox")
    /// The names that jobs in flight have chosen in this outbox. The lock is held while its disk is asked.
    package let reserved = Mutex<Set<String>>([])
    private let waiting = Mutex<[Turn]>([])
    /// Asked whether what is on its way is worth waiting for, in a burst.
    private let awaitsOthers: @Sendable () -> Bool
    /// Used on the queue alone, between groups, when the latest was one of several turns. A job on its own waits for
    /// nobody.
    private let spacing = Mutex(Spacing())

    package init(awaitsOthers: @escaping @Sendable () -> Bool = { false }) { self.awaitsOthers = awaitsOthers }

    package func take(_ turn: Turn) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(turn)
            return waiting.count == 1
        }
        if isFirst { queue.async { self.go() } }
    }

    /// How many files are open together, unless a turn has more of its own.
    private static let mostFiles = 64

    private func go() {
        spacing.withLock { $0.keep(while: awaitsOthers) }
        let (turns, isLast) = waiting.withLock { waiting in
            var files = 0
            let fitting = waiting.prefix { turn in
                files += turn.files.count
                return files <= Self.mostFiles
            }
            // A turn that comes from now on may change a folder after it was made durable, and is one of the next.
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
