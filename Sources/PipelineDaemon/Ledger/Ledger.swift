import DaemonRuntime
import Dispatch
import Glibc
import Synchronization

/// The SQLite file of every job. Writes are grouped: whatever has gathered while the last group was made durable becomes
/// the next one, so a commit's price is shared. Reads have connections of their own, and wait neither for a write nor for each other.
///
/// Writes are applied in the order they were given. A group that can't be written (a full disk) is tried again until it can: a
/// completion means durable. A write that SQLite refuses as such would be refused for ever, and is left out, so that it does not hold up
/// those behind it: its `refused` is called instead.
///
/// `@unchecked`: the writing connection, `orders`, `trimmed` and `spacing` are touched on `queue` alone; the rest is behind a `Mutex`.
final class Ledger: @unchecked Sendable {
    typealias Change = @Sendable (Database, OrderTable) throws -> Void

    /// When a change is to be durable.
    enum Wanted: Comparable {
        /// Nobody waits for it.
        case sometime
        /// A job waits for it, one of many in a burst.
        case soon
        /// Somebody waits for it.
        case now
    }

    private struct Write: Sendable {
        let change: Change
        let done: (@Sendable () -> Void)?
        let refused: (@Sendable () -> Void)?
    }

    private enum Attempt {
        case durable([(batch: Int, news: BatchNews)])
        case later(String)
        case refused(Int, String)
    }

    private struct State {
        var pending: [Write] = []
        /// Of the latest event that is durable.
        var cursor = 0
        /// How many events are kept. A reader that is further behind is told so, and goes on with the oldest there is.
        var keptEvents = 200_000
        /// A commit is on its way, at once or after a while.
        var scheduled = false
        var lingering = false
        /// A pending change is wanted now.
        var isWanted = false
        /// A group could not be written, and waits for its next attempt; everything else waits behind it.
        var retrying = false
        var problem: String?
        // In a struct: a bare closure behind a generic lock is wrapped once more at each access, for ever.
        var afterCommit: (@Sendable () -> Void)?
        var batchSettled: (@Sendable (Int, BatchNews) -> Void)?
        var problemChanged: (@Sendable () -> Void)?
        var othersChanged: (@Sendable (Consequences) -> Void)?
        var awaitsOthers: (@Sendable () -> Bool)?
    }

    private let queue = DispatchQueue(label: "pipelined.ledger")
    private let writer: Database
    private let reading: LedgerReading
    private let orders = OrderTable()
    /// The latest event when events were last trimmed.
    private var trimmed = 0
    /// In a burst, between the beginnings of groups.
    private var spacing = Spacing()
    private let state = Mutex(State())

    init(path: String) throws {
        writer = try Database(path: path)
        try Schema.prepare(writer)
        try Self.prepareNeeds(writer)
        reading = try LedgerReading(path: path)
        let last = try Self.lastCursor(writer)
        state.withLock { $0.cursor = last }
    }

    /// Called after each group, on the ledger's queue.
    func afterCommit(_ call: @escaping @Sendable () -> Void) {
        state.withLock { $0.afterCommit = call }
    }

    /// Called when all of a batch have arrived, or ended, on the ledger's queue, after the completions of what made it so.
    func batchSettled(_ call: @escaping @Sendable (Int, BatchNews) -> Void) {
        state.withLock { $0.batchSettled = call }
    }

    func keep(events: Int) { state.withLock { $0.keptEvents = events } }
    var keptEvents: Int { state.withLock { $0.keptEvents } }
    /// Of the latest event that is durable.
    var cursor: Int { state.withLock { $0.cursor } }
    /// Called when `problem` has become something or nothing, on the ledger's queue.
    func problemChanged(_ call: @escaping @Sendable () -> Void) {
        state.withLock { $0.problemChanged = call }
    }

    /// Called when a read has failed, on the reader's thread; once, until `readAgain`.
    func readFailed(_ call: @escaping @Sendable () -> Void) { reading.failed(call) }

    /// Called when the end of jobs has released others, or let them fail, as that is durable and before it is told of the end itself; on
    /// the ledger's queue.
    func othersChanged(_ call: @escaping @Sendable (Consequences) -> Void) {
        state.withLock { $0.othersChanged = call }
    }

    /// Asked whether what is on its way is worth waiting for, in a burst.
    func awaitsOthers(_ call: @escaping @Sendable () -> Bool) {
        state.withLock { $0.awaitsOthers = call }
    }

    func tell(_ consequences: Consequences) {
        guard !consequences.isEmpty else { return }
        state.withLock { $0.othersChanged }?(consequences)
    }

    /// Why nothing can be written at the moment, if so.
    var problem: String? { state.withLock { $0.problem } }

    /// How long a change that nobody waits for may wait for others, to share the price of one commit.
    private static let linger = DispatchTimeInterval.milliseconds(10)

    /// Applies `change` with the next group; `done` is called when it is durable, `refused` (`done`, when there is none) when it never will
    /// be. One that is wanted begins its group at once, or as soon as the spacing allows.
    func write(
        wanted: Wanted = .sometime, _ change: @escaping Change, done: (@Sendable () -> Void)? = nil,
        refused: (@Sendable () -> Void)? = nil
    ) {
        let schedule = state.withLock { state in
            state.pending.append(Write(change: change, done: done, refused: refused ?? done))
            if wanted == .now { state.isWanted = true }
            if state.scheduled || (wanted == .sometime && state.lingering) { return false }
            if wanted == .sometime { state.lingering = true } else { state.scheduled = true }
            return true
        }
        guard schedule else { return }
        guard wanted == .sometime else { return queue.async { self.commit() } }
        queue.asyncAfter(deadline: .now() + Self.linger) { [self] in
            state.withLock { $0.lingering = false }
            commit()
        }
    }

    /// Why the latest reads failed, or nil.
    var readProblem: String? { reading.problem }

    /// Runs the reads that have failed, and logs when all succeed.
    func readAgain(_ body: () -> Void) { reading.again(body) }

    /// Reads what is durable. A failure is logged here; the caller decides what becomes of it.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result { try reading.read(body) }

    /// Waits until everything given so far is durable, or until `seconds` have passed.
    func flush(seconds: Int) -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        write(wanted: .now, { _, _ in }, done: { semaphore.signal() })
        return semaphore.wait(timeout: .now() + .seconds(seconds)) == .success
    }

    private func commit(again: Bool = false) {
        let (isNothing, awaitsOthers) = state.withLock { ($0.pending.isEmpty, $0.awaitsOthers) }
        if isNothing { return }
        spacing.keep { !state.withLock { $0.isWanted } && (awaitsOthers?() ?? false) }
        let group = state.withLock { state in
            if state.retrying, !again { return [Write]() }
            defer {
                state.retrying = false
                state.pending = []
                state.scheduled = false
                state.isWanted = false
            }
            return state.pending
        }
        guard !group.isEmpty else { return }
        write(group)
    }

    private func write(_ gathered: [Write]) {
        var group = gathered
        while true {
            switch attempt(group) {
            case .durable(let settled): return written(group, settled)
            case .later(let problem): return tryLater(group, problem)
            case .refused(let index, let problem):
                let refused = group.remove(at: index)
                Log.failure("the ledger refuses an entry, which is left out: \(problem)")
                refused.refused?()
            }
        }
    }

    private func attempt(_ group: [Write]) -> Attempt {
        var index: Int?
        do {
            try writer.run("BEGIN IMMEDIATE")
            for (number, write) in group.enumerated() {
                index = number
                try write.change(writer, orders)
            }
            index = nil
            let settled = try Self.settleBatches(writer)
            let last = try Self.lastCursor(writer)
            try trimEvents(upTo: last, writer)
            try writer.run("COMMIT")
            state.withLock { $0.cursor = last }
            return .durable(settled)
        } catch {
            try? writer.run("ROLLBACK")
            orders.forget()
            // What is not SQLite's own was met while the entry was put into words.
            let isOfStatement = (error as? LedgerError)?.isOfStatement ?? true
            if let index, isOfStatement { return .refused(index, "\(error)") }
            return .later("\((error as? LedgerError)?.message ?? "\(error)")")
        }
    }

    private func written(_ group: [Write], _ settled: [(batch: Int, news: BatchNews)]) {
        let (recovered, afterCommit, batchSettled, problemChanged) = state.withLock { state in
            defer { state.problem = nil }
            return (state.problem != nil, state.afterCommit, state.batchSettled, state.problemChanged)
        }
        if recovered {
            problemChanged?()
            Log.notice("the ledger can be written again")
        }
        for write in group { write.done?() }
        for (batch, news) in settled { batchSettled?(batch, news) }
        afterCommit?()
    }

    /// Now and then, not with each group.
    private func trimEvents(upTo last: Int, _ database: Database) throws {
        guard last - trimmed >= 1000 else { return }
        try Self.dropEvents(upTo: last - keptEvents, database)
        trimmed = last
    }

    private func tryLater(_ group: [Write], _ problem: String) {
        let (isNews, problemChanged) = state.withLock { state in
            defer { state.problem = problem }
            state.pending.insert(contentsOf: group, at: 0)
            state.retrying = true
            return (state.problem == nil, state.problemChanged)
        }
        if isNews {
            problemChanged?()
            Log.failure(
                "can't write to the ledger: \(problem); no work is taken until it can be, which is tried every second")
        }
        queue.asyncAfter(deadline: .now() + .seconds(1)) { self.commit(again: true) }
    }
}
