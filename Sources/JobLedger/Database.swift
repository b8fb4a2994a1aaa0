import CSQLite
import Glibc
import JobModel
import SystemCalls

/// A connection to the ledger's SQLite file. Not thread-safe: the actor or the `Mutex` that owns the connection
/// serialises access.
final class Database {
    private let handle: OpaquePointer
    private var statements: [SQL: Statement] = [:]

    /// Turns off SQLite's memory statistics: they take a lock at each allocation, and nothing reads them.
    private static let isUncounted = csqlite_count_memory(0) == SQLITE_OK

    init(path: String, isReading: Bool = false) throws {
        _ = Self.isUncounted
        // Creates the file with mode 0600, because SQLite would apply the umask. SQLite gives the WAL and journal files
        // the mode of this file.
        if !isReading, try !FileSystem.exists(path) { _ = try Descriptor.open(path, O_RDWR | O_CREAT, mode: 0o600) }
        var opened: OpaquePointer?
        let access = isReading ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let code = sqlite3_open_v2(path, &opened, access | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            sqlite3_close_v2(opened)
            throw LedgerError(attempted: "open \(path)", message: String(cString: sqlite3_errstr(code)), code: code)
        }
        handle = opened
        sqlite3_busy_timeout(handle, 5000)
        sqlite3_extended_result_codes(handle, 1)
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    var changes: Int { Int(sqlite3_changes64(handle)) }

    /// Runs statements without parameters or results.
    func script(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw error(sql) }
    }

    func run(_ sql: String, _ values: [Value] = []) throws {
        try forEach(sql, values) { _ in }
    }

    func rows<Result>(_ sql: String, _ values: [Value] = [], _ made: (Row) throws -> Result) throws -> [Result] {
        var rows: [Result] = []
        try forEach(sql, values) { rows.append(try made($0)) }
        return rows
    }

    /// Returns the value of the first row. Still steps through all rows, because the statement may also change rows.
    func first<Result>(_ sql: String, _ values: [Value] = [], _ made: (Row) throws -> Result) throws -> Result? {
        var result: Result?
        try forEach(sql, values) { row in if result == nil { result = try made(row) } }
        return result
    }

    func isAny(_ sql: String, _ values: [Value] = []) throws -> Bool { try first(sql, values) { _ in true } ?? false }

    /// Runs the statement and calls `body` for each result row. Keeps the prepared statement for the connection's
    /// lifetime.
    func forEach(_ sql: String, _ values: [Value], _ body: (Row) throws -> Void) throws {
        let statement = try prepared(sql)
        defer { statement.reset() }
        statement.bind(values)
        while true {
            switch sqlite3_step(statement.handle) {
            case SQLITE_ROW: try body(Row(statement: statement.handle))
            case SQLITE_DONE: return
            default: throw error(sql)
            }
        }
    }

    private func prepared(_ sql: String) throws -> Statement {
        if let statement = statements[SQL(text: sql)] { return statement }
        var made: OpaquePointer?
        guard sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil) == SQLITE_OK,
            let made
        else { throw error(sql) }
        let statement = Statement(made)
        statements[SQL(text: sql)] = statement
        return statement
    }

    /// A statement's text as a dictionary key. The hash covers only the length and the last 8 bytes, because hashing a
    /// long text costs more than comparing it once.
    private struct SQL: Hashable {
        let text: String

        func hash(into hasher: inout Hasher) {
            hasher.combine(text.utf8.count)
            for byte in text.utf8.suffix(8) { hasher.combine(byte) }
        }
    }

    private func error(_ sql: String) -> LedgerError {
        LedgerError(
            attempted: sql, message: String(cString: sqlite3_errmsg(handle)), code: sqlite3_extended_errcode(handle))
    }

    enum Value: Sendable {
        case null
        case integer(Int)
        case real(Double)
        case text(String)

        static func optional(_ number: Int?) -> Value { number.map(Value.integer) ?? .null }
        static func optional(_ number: Double?) -> Value { number.map(Value.real) ?? .null }
        static func optional(_ text: String?) -> Value { text.map(Value.text) ?? .null }

        /// Passes a list as JSON (see `json_each`), so that the statement is the same for any number of elements.
        /// Building the text by hand is faster than `JSONEncoder`.
        static func list(_ ids: some Sequence<Int>) -> Value {
            .text("[\(ids.map(String.init).joined(separator: ","))]")
        }
    }

    /// A result row, valid only during the callback. Columns count from 0; `JobColumn` names the columns of a job's
    /// row.
    struct Row {
        let statement: OpaquePointer

        func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(statement, column)) }
        func real(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }
        func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
        func optionalInteger(_ column: Int32) -> Int? { isNull(column) ? nil : integer(column) }
        func optionalReal(_ column: Int32) -> Double? { isNull(column) ? nil : real(column) }
        func text(_ column: Int32) -> String { optionalText(column) ?? "" }

        func optionalText(_ column: Int32) -> String? {
            sqlite3_column_text(statement, column).map { String(cString: $0) }
        }
    }

    private final class Statement {
        let handle: OpaquePointer

        init(_ handle: OpaquePointer) { self.handle = handle }

        deinit { sqlite3_finalize(handle) }

        func bind(_ values: [Value]) {
            for (index, value) in zip(Int32(1)..., values) {
                switch value {
                case .null: sqlite3_bind_null(handle, index)
                case .integer(let number): sqlite3_bind_int64(handle, index, Int64(number))
                case .real(let number): sqlite3_bind_double(handle, index, number)
                case .text(let text): sqlite3_bind_text(handle, index, text, -1, csqlite_transient())
                }
            }
        }

        func reset() {
            sqlite3_reset(handle)
            sqlite3_clear_bindings(handle)
        }
    }
}

/// A failed statement, or another failed action on the ledger, with SQLite's message or our own.
package struct LedgerError: LedgerFailure, CustomStringConvertible {
    let attempted: String
    package let message: String
    var code = SQLITE_ERROR

    /// Whether the statement itself is at fault, so that a retry can't succeed. Other errors have their cause in the
    /// disk or in another process, and may be transient.
    var isOfStatement: Bool {
        [SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_RANGE].contains(code & 0xff)
    }

    /// Whether the file is damaged or not a ledger, so that a retry can't succeed.
    package var isDamage: Bool {
        [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT].contains(code & 0xff)
    }

    package var description: String { "the ledger: \(message) (\(attempted.prefix(80)))" }
}
