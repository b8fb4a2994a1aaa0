import ServiceProgram
import Synchronization

/// The ledger's read side. Each concurrent reader has its own connection, so that a long list delays no other reader.
final class LedgerReading: Sendable {
    private final class Reader: Sendable {
        /// Never contended, because `read` takes the connection out of `State` while it uses the connection.
        let database: Mutex<Database>

        init(path: String) throws { database = Mutex(try Database(path: path)) }
    }

    private struct State {
        var idle: [Reader] = []
        var problem: String?
        /// The latest logged problem; nil once all reads succeed again.
        var logged: String?
        weak var delegate: (any LedgerDelegate)?
    }

    /// Maximum number of idle connections.
    private static let mostIdle = 4

    private let path: String
    private let state: Mutex<State>

    init(path: String) throws {
        self.path = path
        state = Mutex(State(idle: [try Reader(path: path)]))
    }

    func connect(_ delegate: any LedgerDelegate) {
        let problem = state.withLock { state in
            state.delegate = delegate
            return state.problem
        }
        if problem != nil { delegate.readFailed() }
    }

    var problem: String? { state.withLock { $0.problem } }

    func read<Result: Sendable>(_ body: (Database) throws -> Result) throws -> Result {
        do {
            let reader = try state.withLock { $0.idle.popLast() } ?? Reader(path: path)
            let result = try reader.database.withLock { try body($0) }
            state.withLock { if $0.idle.count < Self.mostIdle { $0.idle.append(reader) } }
            return result
        } catch {
            met((error as? LedgerError)?.message ?? "\(error)")
            throw error
        }
    }

    /// Logs a problem. Does not repeat the same problem until all reads succeed again.
    private func met(_ problem: String) {
        let (isNews, isUnlogged, delegate) = state.withLock { state in
            defer { (state.problem, state.logged) = (problem, problem) }
            return (state.problem == nil, state.logged != problem, state.delegate)
        }
        if isUnlogged { Log.failure("can't read the ledger: \(problem); reading is retried every second") }
        if isNews { delegate?.readFailed() }
    }

    func again(_ body: () -> Void) {
        state.withLock { $0.problem = nil }
        body()
        let isWell = state.withLock { state in
            defer { if state.problem == nil { state.logged = nil } }
            return state.problem == nil && state.logged != nil
        }
        if isWell { Log.notice("the ledger can be read again") }
    }
}
