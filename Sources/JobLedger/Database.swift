import CSQLite
import Glibc
import JobModel
import SystemCalls

/// A connection to the ledger's SQLite file. Not thread-safe: the actor or the `Mutex` that owns the connection
/// serialises access.
final class Database {
    private let handle: OpaquePointer
    private var statements: [StatementKey: Statement] = [:]

    /// Turns off SQLite's memory statistics: they lock a mutex at each allocation, and no code reads them.
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
    func script(_ sql: SQL) throws {
        precondition(sql.values.isEmpty, "a script has no parameters")
        guard sqlite3_exec(handle, sql.text, nil, nil, nil) == SQLITE_OK else { throw error(sql) }
    }

    func run(_ sql: SQL) throws {
        try forEach(sql) { _ in }
    }

    func rows<Result>(_ sql: SQL, _ made: (Row) throws -> Result) throws -> [Result] {
        var rows: [Result] = []
        try forEach(sql) { rows.append(try made($0)) }
        return rows
    }

    /// Returns the value of the first row. Steps through all rows, because the statement may also change rows.
    func first<Result>(_ sql: SQL, _ made: (Row) throws -> Result) throws -> Result? {
        var result: Result?
        try forEach(sql) { row in if result == nil { result = try made(row) } }
        return result
    }

    /// Returns the only column of each row.
    func column<Value: SQLValue>(_ sql: SQL) throws -> [Value] { try rows(sql) { try $0.only() } }

    /// Returns the only column of the first row; nil if the value is NULL, or if there is no row.
    func value<Value: SQLValue>(_ sql: SQL) throws -> Value? { try first(sql) { try $0.only() as Value? } ?? nil }

    func isAny(_ sql: SQL) throws -> Bool { try first(sql) { _ in true } ?? false }

    /// Runs the statement and calls `body` for each result row. Keeps the prepared statement for the connection's
    /// lifetime.
    func forEach(_ sql: SQL, _ body: (Row) throws -> Void) throws {
        let statement = try prepared(sql)
        defer { statement.reset() }
        statement.bind(sql.values)
        while true {
            switch sqlite3_step(statement.handle) {
            case SQLITE_ROW: try body(Row(statement: statement))
            case SQLITE_DONE: return
            default: throw error(sql)
            }
        }
    }

    private func prepared(_ sql: SQL) throws -> Statement {
        if let statement = statements[StatementKey(bytes: sql.bytes)] { return statement }
        var made: OpaquePointer?
        guard sqlite3_prepare_v3(handle, sql.text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil) == SQLITE_OK,
            let made
        else { throw error(sql) }
        let statement = Statement(made)
        statements[StatementKey(bytes: sql.bytes)] = statement
        return statement
    }

    /// A statement's text as a dictionary key. The hash covers only the length and the last 8 bytes, because hashing a
    /// long text costs more than comparing it once.
    private struct StatementKey: Hashable {
        let bytes: [UInt8]

        func hash(into hasher: inout Hasher) {
            hasher.combine(bytes.count)
            for byte in bytes.suffix(8) { hasher.combine(byte) }
        }
    }

    private func error(_ sql: SQL) -> LedgerError {
        let code = sqlite3_extended_errcode(handle)
        return LedgerError(attempted: sql.text, message: String(cString: sqlite3_errmsg(handle)), code: code)
    }

    /// A result row, valid only during the callback.
    struct Row {
        fileprivate let statement: Statement

        /// Reads a column by its name. Throws if there is no such column, or if its value doesn't have this type.
        subscript<Value: SQLValue>(name: String) -> Value {
            get throws {
                guard let column = statement.column(name) else {
                    throw LedgerError(attempted: statement.text, message: "there is no column '\(name)'")
                }
                return try read(column)
            }
        }

        fileprivate func only<Value: SQLValue>() throws -> Value { try read(0) }

        private func read<Value: SQLValue>(_ column: Int32) throws -> Value {
            guard let value = Value.read(statement.handle, column) else {
                let name = statement.names[Int(column)]
                throw LedgerError(attempted: statement.text, message: "'\(name)' has no value of type \(Value.self)")
            }
            return value
        }
    }

    fileprivate final class Statement {
        let handle: OpaquePointer
        /// The names of the columns.
        private(set) lazy var names = (0..<sqlite3_column_count(handle)).map {
            String(cString: sqlite3_column_name(handle, $0))
        }
        /// The index of the last column read by name.
        private var last = -1

        init(_ handle: OpaquePointer) { self.handle = handle }

        deinit { sqlite3_finalize(handle) }

        var text: String { String(cString: sqlite3_sql(handle)) }

        /// Returns the index of a column, or nil if there is no such column. The search begins after the last column
        /// read, because most callers read the columns from left to right.
        func column(_ name: String) -> Int32? {
            for _ in names {
                last = last + 1 < names.count ? last + 1 : 0
                if names[last] == name { return Int32(last) }
            }
            return nil
        }

        func bind(_ values: [SQL.Value]) {
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

/// A failed statement, or another failed action on the ledger. The message comes from SQLite or from this program.
package struct LedgerError: LedgerFailure, CustomStringConvertible {
    /// The failed statement or action; nil if `message` names it.
    let attempted: String?
    package let message: String
    var code = SQLITE_ERROR

    /// Whether the statement itself is at fault, so that a retry can't succeed. The disk or another process causes all
    /// other errors, which may be transient.
    var isOfStatement: Bool {
        [SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG, SQLITE_RANGE].contains(code & 0xff)
    }

    /// Whether the file is damaged or not a ledger, so that a retry can't succeed.
    package var isDamage: Bool {
        [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT].contains(code & 0xff)
    }

    package var description: String {
        attempted.map { "the ledger: \(message) (\($0.prefix(80)))" } ?? message
    }
}
