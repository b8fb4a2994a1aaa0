import CSQLite
import Glibc
import SystemCalls

/// A ledger's file as another process sees it, which changes nothing there. A daemon may write to the file meanwhile.
package struct LedgerView {
    /// A job whose original has come, and was not removed.
    package struct Original {
        package var job: Int
        /// The job's name for it.
        package var path: String
        /// Where it lies: `source`, or already at the place that it is being brought back to.
        package var places: [String]
        /// The job has ended, and the original lies where it belongs.
        package var isOver: Bool
    }

    private let database: Database

    package init(path: String) throws { database = try Database(path: path, isReading: true) }

    /// Copies the ledger as it is at one moment, in one file without a log beside it, and checks the copy's pages. A copy
    /// that was there before is replaced at the end.
    package func copy(to path: String) throws {
        let unfinished = path + ".new"
        for suffix in ["", "-journal"] { try FileSystem.remove(unfinished + suffix) }
        // SQLite takes an empty file, whose mode stays.
        _ = try Descriptor.open(unfinished, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        try database.run("VACUUM INTO ?", [.text(unfinished)])
        try Schema.check(Database(path: unfinished, isReading: true))
        try FileSystem.sync(unfinished)
        try FileSystem.rename(unfinished, path)
    }

    /// Throws when rows of this version can't be read.
    package func checkVersion() throws {
        let version = try database.first("PRAGMA user_version") { $0.integer(0) } ?? 0
        guard version == Schema.steps.count else {
            throw LedgerError(
                attempted: "read version \(version)",
                message:
                    "another version of pipelined has written it, and this one can't tell which originals it needs; "
                    + "start the installed pipelined once")
        }
    }

    package func jobs() throws -> Int { try database.first("SELECT COUNT(*) FROM jobs") { $0.integer(0) } ?? 0 }

    package func forEachOriginal(_ body: (Original) throws -> Void) throws {
        try database.forEach("SELECT \(Self.columns) WHERE inode <> 0 AND removed IS NULL", []) {
            try body(Original($0))
        }
    }

    /// Nil when there is no such job any more, or its original was removed.
    package func original(of job: Int) throws -> Original? {
        try database.first("SELECT \(Self.columns) WHERE id = ? AND removed IS NULL", [.integer(job)], Original.init)
    }

    private static let columns = "id, path, source, returns, disposed AND state IN \(Ledger.final) FROM jobs"

    /// Results in outboxes, and pictures that jobs have made up to a barrier.
    package func forEachMade(_ body: (_ path: String) throws -> Void) throws {
        try database.forEach(
            """
            SELECT CASE made.type WHEN 'text' THEN made.value ELSE json_extract(made.value, '$.path') END
            FROM jobs, json_each(jobs.outputs) made WHERE outputs IS NOT NULL
            UNION ALL
            SELECT json_extract(made.value, '$.path') FROM jobs, json_each(jobs.staged) made WHERE staged IS NOT NULL
            """, []
        ) { try body($0.text(0)) }
    }
}

extension LedgerView.Original {
    fileprivate init(_ row: Database.Row) {
        self.init(
            job: row.integer(0), path: row.text(1), places: [row.text(2)] + [row.optionalText(3)].compactMap(\.self),
            isOver: row.integer(4) != 0)
    }
}
