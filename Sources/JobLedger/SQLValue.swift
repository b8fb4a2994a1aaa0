import CSQLite
import JobModel
import PipelineModel

/// A Swift type for the values of SQL parameters and columns.
protocol SQLValue: Sendable {
    var bound: SQL.Value { get }

    /// Reads a column of the current row. Returns nil if the column has no value of this type.
    static func read(_ statement: OpaquePointer, _ column: Int32) -> Self?
}

extension Int: SQLValue {
    var bound: SQL.Value { .integer(self) }

    static func read(_ statement: OpaquePointer, _ column: Int32) -> Int? {
        sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : Int(sqlite3_column_int64(statement, column))
    }
}

extension Double: SQLValue {
    var bound: SQL.Value { .real(self) }

    static func read(_ statement: OpaquePointer, _ column: Int32) -> Double? {
        sqlite3_column_type(statement, column) == SQLITE_NULL ? nil : sqlite3_column_double(statement, column)
    }
}

extension String: SQLValue {
    var bound: SQL.Value { .text(self) }

    static func read(_ statement: OpaquePointer, _ column: Int32) -> String? {
        sqlite3_column_text(statement, column).map { String(cString: $0) }
    }
}

extension Bool: SQLValue {
    var bound: SQL.Value { .integer(self ? 1 : 0) }

    static func read(_ statement: OpaquePointer, _ column: Int32) -> Bool? {
        Int.read(statement, column).map { $0 != 0 }
    }
}

extension Optional: SQLValue where Wrapped: SQLValue {
    var bound: SQL.Value { self?.bound ?? .null }

    static func read(_ statement: OpaquePointer, _ column: Int32) -> Wrapped?? {
        .some(Wrapped.read(statement, column))
    }
}

/// An enumeration is stored as its raw value. An unknown raw value is read as nil.
extension SQLValue where Self: RawRepresentable, RawValue: SQLValue {
    var bound: SQL.Value { rawValue.bound }

    static func read(_ statement: OpaquePointer, _ column: Int32) -> Self? {
        RawValue.read(statement, column).flatMap(Self.init)
    }
}

extension FailureClass: SQLValue {}
extension HookOccasion: SQLValue {}
extension JobRecord.Origin: SQLValue {}
extension JobRecord.WaitReason: SQLValue {}
extension JobState: SQLValue {}
extension KeptPlace: SQLValue {}
