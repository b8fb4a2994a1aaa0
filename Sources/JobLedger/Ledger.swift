import DaemonRuntime
import Dispatch
import JobModel
package import ServiceProgram
import Synchronization

/// The SQLite file of all jobs. Writes are committed in groups: the writes that arrive during a commit form the next
/// group, and share the cost of its commit. Each concurrent reader has its own connection. Reads wait neither for
/// writes nor for other reads.
///
/// Writes are applied in order. If the ledger can't commit a group, for example on a full disk, it retries until it
/// succeeds, and then calls `done`. The ledger drops a write, and calls `refused` (by default `done`), in two cases
/// only. First, a write on behalf of a client (`isAsked`) is dropped while the ledger can't commit, because the client
/// may be gone when a retry succeeds. Second, a write that SQLite would always reject is dropped, so that it does not
/// block later writes.
///
/// Any thread may read and write. Changes, completions and callbacks run on the ledger's queue.
package actor Ledger: QueueActor {
    /// How soon a change should be durable.
    enum Wanted {
        /// Nothing waits for the change.
        case sometime
        /// A job waits for the change. Such changes usually arrive in bursts.
        case soon
        /// A caller waits for the change.
        case now
    }

    private typealias Completion = @Sendable () -> Void

    /// Runs within the transaction of its group, once per attempt. The ledger calls the returned completion when the
    /// group is durable.
    private typealias Change = @Sendable (isolated Ledger) throws -> Completion?

    private struct Write: Sendable {
        let change: Change
        let refused: Completion?
        /// Whether a client has requested the write. While the ledger can't commit, it drops such a write, so that the
        /// client gets an error immediately.
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

    /// The state shared with other threads.
    private struct State {
        var pending: [Write] = []
        /// Whether a commit is scheduled.
        var scheduled = false
        var lingering = false
        /// Whether a pending change is wanted `now`.
        var isWanted = false
        /// The cursor of the latest durable event.
        var cursor = 0
        /// Number of events that the log keeps. A reader that has fallen further behind gets a notice, and continues at
        /// the oldest stored event.
        var keptEvents = 200_000
        var problem: String?
    }

    package nonisolated let executor = QueueExecutor("pipelined.ledger")
    private nonisolated let state: Mutex<State>
    private nonisolated let reading: LedgerReading

    let writer: Database
    /// Cached row IDs of `orders`.
    var orderRows: [WorkOrder: Int] = [:]
    /// Effects of the current change on other jobs.
    var consequences = Consequences()
    /// The cursor that the latest event had when `trimEvents` last deleted events.
    private var trimmed = 0
    /// Enforces a minimum time between the groups of a burst.
    private var spacing = Spacing()
    /// Whether a group could not be committed and waits for its retry. All other writes wait until the retry succeeds.
    private var retrying = false
    /// Number of retries scheduled so far. Only the latest retry takes effect.
    private var attempts = 0
    private weak var delegate: (any LedgerDelegate)?
    private weak var follower: (any LedgerFollower)?

    /// Calls `willBegin` before creating the tables of a new ledger.
    package init(path: String, willBegin: () throws -> Void = {}) throws {
        let writer = try Database(path: path)
        try Schema.prepare(writer, willBegin: willBegin)
        state = Mutex(State(cursor: try Self.lastCursor(writer)))
        self.writer = writer
        reading = try LedgerReading(path: path)
    }

    /// Sets the receiver of the ledger's news, and reports existing problems to the receiver.
    package nonisolated func connect(_ delegate: any LedgerDelegate) {
        reading.connect(delegate)
        async { ledger in
            ledger.delegate = delegate
            if ledger.problem != nil { delegate.ledgerProblemChanged() }
        }
    }

    package nonisolated func connect(follower: any LedgerFollower) { async { $0.follower = follower } }

    package nonisolated func keep(events: Int) { state.withLock { $0.keptEvents = events } }
    package nonisolated var keptEvents: Int { state.withLock { $0.keptEvents } }
    /// The cursor of the latest durable event.
    package nonisolated var cursor: Int { state.withLock { $0.cursor } }
    /// Why the ledger can't be written at the moment, or nil.
    package nonisolated var problem: String? { state.withLock { $0.problem } }
    /// Why the latest reads failed, or nil.
    package nonisolated var readProblem: String? { reading.problem }

    // MARK: - Reading

    /// Runs `body`, which repeats the failed reads. Logs the recovery if all these reads succeed.
    package nonisolated func readAgain(_ body: () -> Void) { reading.again(body) }

    /// Reads durable rows; logs a failure and rethrows it.
    nonisolated func read<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        try reading.read(body)
    }

    nonisolated func rows<Result: Sendable>(
        _ sql: SQL, _ each: @Sendable (Database.Row) throws -> Result
    ) throws -> [Result] {
        try read { try $0.rows(sql, each) }
    }

    nonisolated func first<Result: Sendable>(
        _ sql: SQL, _ made: @Sendable (Database.Row) throws -> Result
    ) throws -> Result? {
        try read { try $0.first(sql, made) }
    }

    nonisolated func column<Value: SQLValue>(_ sql: SQL) throws -> [Value] { try read { try $0.column(sql) } }

    nonisolated func value<Value: SQLValue>(_ sql: SQL) throws -> Value? { try read { try $0.value(sql) } }

    nonisolated func isAny(_ sql: SQL) throws -> Bool { try read { try $0.isAny(sql) } }

    // MARK: - Writing

    /// Delay of a `sometime` change, so that it shares a commit with other changes.
    private static let linger = DispatchTimeInterval.milliseconds(10)

    /// Applies `change` with the next group. Calls `done` when the change is durable, or `refused` (by default `done`)
    /// if it was dropped. A change that is wanted `now` starts its group immediately. A change that is wanted `soon`
    /// starts its group as soon as `spacing` allows. A change on behalf of a client (`isAsked`) is dropped while the
    /// ledger can't be written.
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

    /// Like the other `write`, but passes the answer of `change` to `done`. If the ledger drops the change, the answer
    /// is `refused`.
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

    /// Calls `done` when all writes so far are durable.
    package nonisolated func whenDurable(_ done: @escaping @Sendable () -> Void) {
        write(wanted: .now, { _ in }, done: done)
    }

    /// Calls `done` when a test write has succeeded or failed.
    package nonisolated func whenTried(_ done: @escaping @Sendable (_ isWritable: Bool) -> Void) {
        write(
            isAsked: true, refused: false,
            { ledger in
                try ledger.writeNothing()
                return true
            }, done: done)
    }

    /// Inserts a row for a batch that does not exist; `takeBatchNews` deletes the row before the commit. So the commit
    /// writes pages, but the data stays the same.
    private func writeNothing() throws { try writer.run("INSERT OR IGNORE INTO arrivals (batch) VALUES (0)") }

    /// Blocks until all writes so far are durable. Returns false if this takes longer than `seconds`.
    package nonisolated func flush(seconds: Int) -> Bool {
        let semaphore = DispatchSemaphore(value: 0)
        whenDurable { semaphore.signal() }
        return semaphore.wait(timeout: .now() + .seconds(seconds)) == .success
    }

    /// Retries a failed group immediately. Blocks until the attempt is over.
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
        spacing.keep { !state.withLock { $0.isWanted } && (delegate?.awaitsOthers ?? false) }
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
            // The group is empty if all its writes were dropped after a failed attempt. A test write then shows whether
            // the ledger can be written again.
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
            // The rollback has undone inserts and deletions in `orders`, so the cached row IDs may be wrong.
            orderRows = [:]
            // If the error does not come from SQLite, a value could not be encoded, and a retry can't succeed.
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
            delegate?.ledgerProblemChanged()
            Log.notice("the ledger can be written again")
        }
        for write in written {
            if !write.consequences.isEmpty { delegate?.othersChanged(write.consequences) }
            write.done?()
        }
        for (batch, news) in news { delegate?.batchChanged(batch, news) }
        follower?.ledgerCommitted()
    }

    /// Deletes the oldest events, once per 1000 new events.
    private func trimEvents(upTo last: Int) throws {
        guard last - trimmed >= 1000 else { return }
        try writer.run("DELETE FROM events WHERE cursor <= \(last - keptEvents)")
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
            delegate?.ledgerProblemChanged()
            Log.failure(
                "can't write to the ledger: \(problem); no work is taken until it can; writing is retried every second")
        }
        for write in asked { write.refused?() }
        attempts += 1
        after(.seconds(1)) { [attempts] ledger in if ledger.attempts == attempts { ledger.commit(again: true) } }
    }
}
