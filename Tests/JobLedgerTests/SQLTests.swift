import JobModel
import PipelineModel
import TestTools
import Testing

@testable import JobLedger

@Suite("Statements and the rows that they return")
struct SQLTests {
    private func with(_ body: (Database) throws -> Void) throws {
        try withTemporaryFolder { folder in try body(try Database(path: "\(folder)/test.sqlite")) }
    }

    @Test("a value of each type becomes a parameter at its place, and nil becomes NULL")
    func values() throws {
        let none: (Int?, Double?, String?, Bool?, JobState?) = (nil, nil, nil, nil, nil)
        let some: (Int?, JobRecord.WaitReason?) = (5, .barrier)
        try with { (database) throws in
            let received: [String] = try database.column(
                """
                VALUES (typeof(\(1)) || \(1)), (typeof(\(2.0)) || \(2.0)), (typeof(\("x")) || \("x")),
                    (typeof(\(true)) || \(true) || \(false)), (typeof(\(JobState.done)) || \(JobState.done)),
                    (\(some.0) || \(some.1)), (typeof(\(none.0)) || typeof(\(none.1)) || typeof(\(none.2))),
                    (typeof(\(none.3)) || typeof(\(none.4)))
                """)
            #expect(
                received == [
                    "integer1", "real2.0", "textx", "integer10", "textdone", "5barrier", "nullnullnull", "nullnull",
                ])
        }
    }

    @Test("a text with quotes stays one value, whatever SQL it contains")
    func quotes() throws {
        try with { (database) throws in
            try database.script("CREATE TABLE names (name TEXT)")
            let names = ["it's", "\"x\"", "'); DROP TABLE names; --", "?1", ""]
            for name in names { try database.run("INSERT INTO names VALUES (\(name))") }
            #expect(try database.column("SELECT name FROM names ORDER BY rowid") == names)
            #expect(try database.value("SELECT COUNT(*) FROM names WHERE name IN \(names)") == names.count)
        }
    }

    @Test("a part keeps its parameters in their order, at each place where it is interpolated")
    func parts() throws {
        let inner: SQL = "x BETWEEN \(2) AND \(3)"
        let outer: SQL = "SELECT \(1) WHERE (\(inner) OR \(inner)) AND y = \("z")"
        #expect(outer.text == "SELECT ? WHERE (x BETWEEN ? AND ? OR x BETWEEN ? AND ?) AND y = ?")
        let values = outer.values.map { "\($0)" }
        #expect(
            values == ["integer(1)", "integer(2)", "integer(3)", "integer(2)", "integer(3)", #"text("z")"#])
        let joined: SQL = ["a = \(1)", "b = \(2)", "c"].joined(by: " AND ")
        #expect(joined.text == "a = ? AND b = ? AND c" && joined.values.count == 2)
    }

    @Test("a list is one parameter, so its statement is the same for any number of elements")
    func lists() throws {
        try with { (database) throws in
            for ids in [[], [7], [3, -1, 7]] {
                let sql: SQL = "SELECT value FROM \(ids) WHERE value IN \(ids)"
                #expect(sql.text == "SELECT value FROM \(Self.list) WHERE value IN \(Self.list)")
                #expect(try database.column(sql) == ids)
            }
            let words = [JobState.done, .failed]
            #expect(try database.column("SELECT value FROM \(words)") == words)
        }
    }

    private static let list = "(SELECT value FROM json_each(?))"

    @Test("a number or a word of the program can be written into the text")
    func literals() {
        let sql: SQL = "state = \(literal: JobState.failed) LIMIT \(literal: 20)"
        #expect(sql.text == "state = 'failed' LIMIT 20" && sql.values.isEmpty)
    }

    @Test("columns are read by name, in any order, as the requested type")
    func columns() throws {
        try with { (database) throws in
            try database.forEach("SELECT 1 AS a, 2.5 AS b, 'done' AS c, NULL AS d, 0 AS e") { row in
                let (word, text): (JobState, String) = try (row["c"], row["c"])
                #expect(word == .done && text == "done")
                let (whole, real, flag): (Int, Double, Bool) = try (row["a"], row["b"], row["e"])
                #expect(whole == 1 && real == 2.5 && !flag)
                let (a, d): (Int?, String?) = try (row["a"], row["d"])
                #expect(a == 1 && d == nil)
                #expect(try row["d"] ?? 7 == 7)
                let unknown: KeptPlace? = try row["c"]
                #expect(unknown == nil)
            }
            let nothing: Int? = try database.value("SELECT MAX(id) FROM (SELECT 1 AS id WHERE 0)")
            #expect(nothing == nil)
        }
    }

    @Test("a column that is missing, NULL or an unknown word is an error that names it and the statement")
    func missing() throws {
        try with { (database) throws in
            let null = #expect(throws: LedgerError.self) {
                try database.rows("SELECT 1 AS id, NULL AS size") { try $0["size"] as Int }
            }
            #expect(null?.description == "the ledger: 'size' has no value of type Int (SELECT 1 AS id, NULL AS size)")
            let word = #expect(throws: LedgerError.self) { () throws -> [JobState] in
                try database.column("SELECT 'lost' AS state")
            }
            #expect(word?.message == "'state' has no value of type JobState")
            let column = #expect(throws: LedgerError.self) {
                try database.rows("SELECT 1 AS id") { try $0["size"] as Int }
            }
            #expect(column?.description == "the ledger: there is no column 'size' (SELECT 1 AS id)")
        }
    }

    @Test("a migration that fails is named, and leaves the file at the version before it")
    func migration() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/ledger.sqlite"
            let step = try #require(Schema.steps.firstIndex { $0.name == "hosts of downloads" })
            do {
                let older = try Database(path: path)
                for (number, step) in zip(1..., Schema.steps[..<step]) { try step.run(number, on: older) }
                try older.run("ALTER TABLE jobs ADD COLUMN host TEXT")
            }
            let error = #expect(throws: LedgerError.self) { try Ledger(path: path) }
            let reason = "step \(step + 1), 'hosts of downloads': duplicate column name: host"
            #expect(error?.description == "the ledger can't be migrated: \(reason)")
            #expect(try Schema.version(of: Database(path: path)) == step)
        }
    }
}
