package import DaemonRuntime
import Dispatch
import Synchronization

/// The SQLite file of every job. Writes are grouped: all writes that gather while one group is made durable become the
/// next group, and share the price of a commit. Reads have connections of their own, and wait neither for a write nor
/// for each other.
///
/// Writes are applied in the order in which they were given. A group that can't be written (a full disk) is tried again until it can: a
/// completion means durable. Only a write that a client asks for is given up then, so that nothing is done behind the back of a client that
/// has gone: its `refused` is called. So it is for a bad write, which SQLite would refuse for ever: it is left out and holds up nobody.
///
/// Any thread may give writes, and read. Everything else happens on the ledger's queue.
package actor Ledger: QueueActor {
    /// The time by which a change is to be durable.
    enum Wanted {
        /// Nobody waits for it.
        case sometime
        /// A job waits for it, one of many in a burst.
        case soon
        /// Somebody waits for it.
        case now
    }

    private typealias Completion = @Sendable () -> Void

    /// Runs within the transaction of its group, once for each attempt at it. The completion is called when the group
    /// is durable.
    private typealias Change = @Sendable (isolated Ledger) throws -> Completion?

    private struct Write: Sendable {
        let change: Change
        let refused: Completion?
        /// A client asks for it, and is to hear at once if it can't be written.
        let isAsked: Bool
    }

    private struct Written {
        let consequences: Consequences
        let done: Completion?
    }

    private enum Attempt {
        case durable([Written], news: [(batch: Int, news: BatchNews)])
        case later(String)
        case refused(Int, String)
    }

    /// The part that other threads touch.
    private struct State {
        var pending: [Write] = []
        /// A commit is on its way, at once or after a while.
        var scheduled = false
        var lingering = false
        /// A pending change is wanted now.
        var isWanted = false
        /// The latest event that is durable.
        var cursor = 0
        /// The number of events that are kept. A reader that is further behind learns so, and goes on with the oldest
        /// event.
        var keptEvents = 200_000
        var problem: String?
    }

    package nonisolated let executor = QueueExecutor("pipelined.ledger")
    private nonisolated let state: Mutex<State>
    private nonisolated let reading: LedgerReading

    let writer: Database
    /// The known rows of `orders`.
    var orderRows: [WorkOrder: Int] = [:]
    /// The effect of the present change on other jobs.
    var consequences = Consequences()
    /// The latest event at the time when events were last trimmed.
    private var trimmed = 0
    /// Keeps the beginnings of groups apart in a burst.
    private var spacing = Spacing()
    /// A group could not be written. Everything else waits behind its next attempt.
    private var retrying = false
    /// Counts the appointments for that; only the latest is kept.
    private var attempts = 0
    private var afterCommit: Completion?
    private var batchChanged: (@Sendable (Int, BatchNews) -> Void)?
    private var problemChanged: Completion?
    private var othersChanged: (@Sendable (Consequences) -> Void)?
    private var awaitsOthers: (@Sendable () -> Bool)?

    /// Calls `willBegin` before it makes the tables of a new ledger.
    package init(path: String, willBegin: () throws -> Void = {}) throws {
        let writer = try Database(path: path)
        try Schema.prepare(writer, willBegin: willBegin)
        state = Mutex(State(cursor: try Self.lastCursor(writer)))
        self.writer = writer
        reading = try LedgerReading(path: path)
    }

    // MARK: - Calls to others, on the ledger's queue

    /// Called after each group.
    package nonisolated func afterCommit(_ call: @escaping @Sendable () -> Void) { async { $0.afterCommit = call } }

    /// Called when all jobs of a batch have arrived, or ended, after the completions of their changes.
    package nonisolated func batchChanged(_ call: @escaping @Sendable (Int, BatchNews) -> Void) {
        async { $0.batchChanged = call }
    }

    /// Called when `problem` comes or goes.
    package nonisolated func problemChanged(_ call: @escaping @Sendable () -> Void) {
        async { $0.problemChanged = call }
    }

    /// Called when the end of jobs has released others, or let them fail. That is durable by then; the end itself is
    /// announced afterwards.
    package nonisolated func othersChanged(_ call: @escaping @Sendable (Consequences) -> Void) {
        async { $0.othersChanged = call }
    }

    /// Asked in a burst whether the changes on their way are worth waiting for.
    package nonisolated func awaitsOthers(_ call: @escaping @Sendable () -> Bool) { async { $0.awaitsOthers = call } }

    /// Called when a read has failed, on the reader's thread; once, until `readAgain`.
    package nonisolated func readFailed(_ call: @escaping @Sendable () -> Void) { reading.failed(call) }

    package nonisolated func keep(events: Int) { state.withLock { $0.keptEvents = events } }
    package nonisolated var keptEvents: Int { state.withLock { $0.keptEvents } }
    /// The latest event that is durable.
    package nonisolated var cursor: Int { state.withLock { $0.cursor } }
    /// Why nothing can be written at the moment, or nil.
    package nonisolated var problem: String? { state.withLock { $0.problem } }
    /// Why the latest reads failed, or nil.
    package nonisolated var readProblem: String? { reading.problem }

    // MARK: - Reading

    /// Repeats failed reads, and logs when all succeed.
    package nonisolated func readAgain(_ body: () -> Void) { reading.again(body) }

    /// Reads durable rows. A failure is logged here; the caller decides what follows from it.
    nonisolated func read<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        try reading.read(body)
    }

    nonisolated func rows<Result: Sendable>(
        _ sql: String, _ values: [Database.Value] = [], _ each: @Sendable (Database.Row) throws -> Result
    ) throws -> [Result] {
        try read { try $0.rows(sql, values, each) }
    }

    nonisolated func first<Result: Sendable>(
        _ sql: String, _ values: [Database.Value] = [], _ made: @Sendable (Database.Row) throws -> Result
    ) throws -> Result? {
        try read { try $0.first(sql, values, made) }
    }

    nonisolated func isAny(_ sql: String, _ values: [Database.Value] = []) throws -> Bool {
        try first(sql, values) { _ in true } ?? false
    }

    // MARK: - Writing

    /// How long a change that nobody waits for may wait for others, to share the price of one commit.
    private static let linger = DispatchTimeInterval.milliseconds(10)

    /// Applies `change` with the next group. `done` is called when it is durable; `refused`, or `done` without it, when
    /// it never will be. A wanted change begins its group at once, or as soon as the spacing allows. A change that a client
    /// asks for is given up when nothing can be written.
    nonisolated func write(
        wanted: Wanted = .sometime, isAsked: Bool = false,
        _ change: @escaping @Sendable (isolated Ledger) throws -> Void, done: (@Sendable () -> Void)? = nil,
        refused: (@Sendable () -> Void)? = nil
    ) {
        give(wanted, isAsked, refused: refused ?? done) { ledger in
            try change(ledger)
            return done
        }
    }

    /// The same with an answer; `refused` is the answer when the change is refused or given up.
    nonisolated func write<Answer: Sendable>(
        wanted: Wanted = .now, isAsked: Bool = false, refused: Answer,
        _ change: @escaping @Sendable (isolated Ledger) throws -> Answer, done: @escaping @Sendable (Answer) -> Void
    ) {
        give(wanted, isAsked, refused: { done(refused) }) { ledger in
            let answer = try change(ledger)
            return { done(answer) }
        }
    }

    private nonisolated func give(
        _ wanted: Wanted, _ isAsked: Bool, refused: Completion?, _ change: @escaping Change
    ) {
        if isAsked, problem != nil { return async { _ in refused?() } }
        let schedule = state.withLock { state in
            state.pending.append(Write(change: change, refused: refused, isAsked: isAsked))
            if wanted == .now { state.isWanted = true }
            if state.scheduled || (wanted == .sometime && state.lingering) { return false }
            if wanted == .sometime { state.lingering = true } else { state.scheduled = true }
            return true
        }
        guard schedule else { return }
        guard wanted == .sometime else { return async { $0.commit() } }
        after(Self.linger) { ledger in
            ledger.state.withLock { $0.lingering = false }
            ledger.commit()
        }
    }

    /// Calls `done` when everything given so far is durable.
    package nonisolated func whenDurable(_ done: @escaping @Sendable () -> Void) {
        write(wanted: .now, { _ in }, done: done)
    }

    /// Calls `done` when something has been written, or can't be.
    package nonisolated func whenTried(_ done: @escaping @Sendable (_ isWritable: Bool) -> Void) {
        write(
            isAsked: true, refused: false,
            { ledger in
                try ledger.writeNothing()
                return true
            }, done: done)
    }

    /// A note about no batch, which goes with the commit: pages are written, and nothing changes.
    private func writeNothing() throws { try writer.run("INSERT OR IGNORE INTO arrivals (batch) VALUES (0)") }

    /// Waits until everything given so far is durable, or until `seconds` have passed.
    package nonisolated func flush(seconds: Int) -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        whenDurable { semaphore.signal() }
        return semaphore.wait(timeout: .now() + .seconds(seconds)) == .success
    }

    /// Tries at once what could not be written; returns when that has been tried.
    package nonisolated func tryAgain() {
        let over = DispatchSemaphore(value: 0)
        async { ledger in
            if ledger.retrying { ledger.commit(again: true) }
            over.signal()
        }
        over.wait()
    }

    private func commit(again: Bool = false) {
        guard again || !retrying, retrying || !state.withLock({ $0.pending.isEmpty }) else { return }
        spacing.keep { !state.withLock { $0.isWanted } && (awaitsOthers?() ?? false) }
        retrying = false
        write(
            state.withLock { state in
                defer { (state.pending, state.scheduled, state.isWanted) = ([], false, false) }
                return state.pending
            })
    }

    private func write(_ gathered: [Write]) {
        var group = gathered
        while true {
            switch attempt(group) {
            case .durable(let written, let news): return tell(written, news)
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
            // Nothing is left of what could not be written.
            if group.isEmpty { try writeNothing() }
            var written: [Written] = []
            for (number, write) in group.enumerated() {
                index = number
                consequences = Consequences()
                let done = try write.change(self)
                written.append(Written(consequences: consequences, done: done))
            }
            index = nil
            let news = try takeBatchNews()
            let last = try Self.lastCursor(writer)
            try trimEvents(upTo: last)
            try writer.run("COMMIT")
            state.withLock { $0.cursor = last }
            return .durable(written, news: news)
        } catch {
            try? writer.run("ROLLBACK")
            // The rollback has removed new rows of `orders`, and brought back forgotten ones.
            orderRows = [:]
            // Any error but SQLite's own comes from encoding the entry.
            let isOfStatement = (error as? LedgerError)?.isOfStatement ?? true
            if let index, isOfStatement { return .refused(index, "\(error)") }
            return .later("\((error as? LedgerError)?.message ?? "\(error)")")
        }
    }

    private func tell(_ written: [Written], _ news: [(batch: Int, news: BatchNews)]) {
        let recovered = state.withLock { state in
            defer { state.problem = nil }
            return state.problem != nil
        }
        if recovered {
            problemChanged?()
            Log.notice("the ledger can be written again")
        }
        for write in written {
            if !write.consequences.isEmpty { othersChanged?(write.consequences) }
            write.done?()
        }
        for (batch, news) in news { batchChanged?(batch, news) }
        afterCommit?()
    }

    /// Trims now and then, not with each group.
    private func trimEvents(upTo last: Int) throws {
        guard last - trimmed >= 1000 else { return }
        try writer.run("DELETE FROM events WHERE cursor <= ?", [.integer(last - keptEvents)])
        trimmed = last
    }

    private func tryLater(_ group: [Write], _ problem: String) {
        var asked: [Write] = []
        let isNews = state.withLock { state in
            defer { state.problem = problem }
            let all = group + state.pending
            asked = all.filter(\.isAsked)
            state.pending = all.filter { !$0.isAsked }
            return state.problem == nil
        }
        retrying = true
        if isNews {
            problemChanged?()
            Log.failure(
                "can't write to the ledger: \(problem); no work is taken until it can be, which is tried every second")
        }
        for write in asked { write.refused?() }
        attempts += 1
        after(.seconds(1)) { [attempts] ledger in if ledger.attempts == attempts { ledger.commit(again: true) } }
    }
}
