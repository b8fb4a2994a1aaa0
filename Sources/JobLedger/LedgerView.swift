import CSQLite
import Glibc
import JobModel
import SystemCalls

/// Read-only view of a ledger file for another process. A daemon may write to the file meanwhile.
package struct LedgerView {
    /// A job's original that has arrived and was not removed.
    package struct Original {
        package var job: Int
        /// The job's `path`: the original's path relative to its inbox, or the name passed to `pipectl add`.
        package var path: String
        /// The paths where the original may be: `source`, and the target path if the job is being brought back.
        package var places: [String]
        /// Whether the job has ended and its original has reached its final place.
        package var isOver: Bool
    }

    private let database: Database

    package init(path: String) throws { database = try Database(path: path, isReading: true) }

    /// Copies a snapshot of the ledger into a single file without a WAL. Checks the copy's pages before it replaces an
    /// earlier copy.
    package func copy(to path: String) throws {
        let unfinished = path + ".new"
        for suffix in ["", "-journal"] { try FileSystem.remove(unfinished + suffix) }
        // `VACUUM INTO` accepts an existing file if it is empty, and keeps the file's mode.
        _ = try Descriptor.open(unfinished, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        try database.run("VACUUM INTO \(unfinished)")
        try Schema.check(Database(path: unfinished, isReading: true))
        try FileSystem.sync(unfinished)
        try FileSystem.rename(unfinished, path)
    }

    /// Throws unless the ledger has this program's schema version.
    package func checkVersion() throws {
        let version = try Schema.version(of: database)
        guard version == Schema.steps.count else {
            throw LedgerError(
                attempted: "read version \(version)",
                message:
                    "another version of pipelined has written it, and this one can't tell which originals it needs; "
                    + "start the installed pipelined once")
        }
    }

    package func jobs() throws -> Int { try database.value("SELECT COUNT(*) FROM jobs") ?? 0 }

    package func forEachOriginal(_ body: (Original) throws -> Void) throws {
        try database.forEach("SELECT \(Self.columns) WHERE inode <> 0 AND removed IS NULL") { try body(Original($0)) }
    }

    /// Returns the original of a job; nil if the job is no longer known or its original was removed.
    package func original(of job: Int) throws -> Original? {
        try database.first("SELECT \(Self.columns) WHERE id = \(job) AND removed IS NULL", Original.init)
    }

    private static let columns: SQL =
        "id, path, source, returns, disposed AND state IN \(Ledger.final) AS isOver FROM jobs"

    /// Calls `body` with the path of each result in an outbox, and of each intermediate picture.
    package func forEachMade(_ body: (_ path: String) throws -> Void) throws {
        try database.forEach(
            """
            SELECT CASE made.type WHEN 'text' THEN made.value ELSE json_extract(made.value, '$.path') END AS path
            FROM jobs, json_each(jobs.outputs) made WHERE outputs IS NOT NULL
            UNION ALL
            SELECT json_extract(made.value, '$.path') FROM jobs, json_each(jobs.staged) made WHERE staged IS NOT NULL
            """
        ) { try body($0["path"]) }
    }
}

extension LedgerView.Original {
    fileprivate init(_ row: Database.Row) throws {
        let places: [String?] = try [row["source"], row["returns"]]
        self.init(
            job: try row["id"], path: try row["path"], places: places.compactMap(\.self), isOver: try row["isOver"])
    }
}
