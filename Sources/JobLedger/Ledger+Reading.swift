package import JobModel
package import PipelineModel
package import SystemCalls

extension Ledger {
    static let final: SQL = "('done', 'failed', 'cancelled')"
    static let unfinished: SQL = "('waiting', 'queued', 'running', 'cancelling')"

    // `isFinal` and `isUnfinished` test the states without IN, as the schema's indexes do. For an IN list of three or
    // more values, SQLite would build a table at every change of a row.
    static let isFinal: SQL = "(state = 'done' OR state = 'failed' OR state = 'cancelled')"
    static let isUnfinished: SQL =
        "(state = 'waiting' OR state = 'queued' OR state = 'running' OR state = 'cancelling')"

    /// Reads jobs through the given index. The database has no statistics, so SQLite would otherwise choose another
    /// index, and scan far more rows.
    nonisolated func jobs(by index: SQL? = nil, _ rest: SQL) throws -> [JobRecord] {
        let indexed: SQL = index.map { "INDEXED BY \($0)" } ?? ""
        return try read { database in
            var orders = OrderCache()
            return try database.rows(
                "SELECT \(JobRecord.columns) FROM jobs j \(indexed) JOIN orders o ON o.id = j.work \(rest)"
            ) { try JobRecord($0, &orders) }
        }
    }

    package nonisolated func job(_ id: Int) throws -> JobRecord? { try jobs("WHERE j.id = \(id)").first }

    /// Returns the existing jobs among these IDs.
    package nonisolated func jobs(_ ids: [Int]) throws -> [JobRecord] {
        try jobs("WHERE j.id IN \(ids) ORDER BY j.id")
    }

    /// Returns the current records of ended jobs, by ID. Rereads only the few jobs that have changed.
    package nonisolated func current(_ ended: [JobRecord]) throws -> [Int: JobRecord] {
        var jobs = Dictionary(ended.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let unchanged = try rows(
            """
            SELECT id, state, finished, source, disposed FROM jobs
            WHERE id IN \(Array(jobs.keys)) AND returns IS NULL AND removed IS NULL
            """
        ) { [jobs] row -> Int? in
            let id: Int = try row["id"]
            let (state, finished): (JobState, Double?) = try (row["state"], row["finished"])
            guard let job = jobs[id], job.state == state, job.finished == finished, try job.source == row["source"],
                try job.disposed == row["disposed"], job.returns == nil, job.removed == nil
            else { return nil }
            return id
        }
        let changed = Set(jobs.keys).subtracting(unchanged.compactMap(\.self))
        guard !changed.isEmpty else { return jobs }
        for id in changed { jobs[id] = nil }
        for job in try self.jobs(changed.sorted()) { jobs[job.id] = job }
        return jobs
    }

    /// Returns the first ID without a job; nil if every ID has a job.
    package nonisolated func unknown(of ids: [Int]) throws -> Int? {
        try read { try Self.unknown(of: ids, $0) }
    }

    static func unknown(of ids: [Int], _ database: Database) throws -> Int? {
        try database.value("SELECT value FROM \(ids) WHERE value NOT IN (SELECT id FROM jobs) LIMIT 1")
    }

    /// Returns the first queued jobs that start in this queue and have at least this priority, excluding `except`.
    package nonisolated func queued(
        _ entry: FirstQueue = .render, atLeast priority: Priority = .low, except: [Int] = [], limit: Int
    ) throws -> [JobRecord] {
        try jobs(
            by: entry.index,
            """
            WHERE j.state = 'queued' AND \(entry.condition) AND j.priority >= \(priority.rank) AND j.id NOT IN \(except)
            ORDER BY j.priority DESC, j.position LIMIT \(limit)
            """)
    }

    /// Returns the creation time of the queued job with the lowest ID.
    package nonisolated func oldestQueued() throws -> Double? {
        try value("SELECT created FROM jobs INDEXED BY jobs_by_state WHERE state = 'queued' ORDER BY id LIMIT 1")
    }

    /// Returns the jobs that a crash or stop interrupted, including jobs that waited for a shared resource. Leaves out
    /// jobs that wait for other jobs or for a retry, because these jobs keep waiting after a restart.
    package nonisolated func interrupted() throws -> [JobRecord] {
        try jobs(
            """
            WHERE j.state IN ('running', 'cancelling') OR (j.state = 'waiting' AND COALESCE(j.hold, 'place') = 'place')
            ORDER BY j.position
            """)
    }

    package nonisolated func unfinishedOutboxes() throws -> Set<String> {
        Set(
            try column(
                """
                SELECT DISTINCT json_extract(body, '$.outbox') FROM orders
                WHERE EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_by_work WHERE work = orders.id AND state IN \(Self.unfinished))
                """))
    }

    /// Returns the paths of all staging files in use: pictures rendered before a barrier, and files to publish or
    /// withdraw.
    package nonisolated func stagedPaths() throws -> Set<String> {
        Set(
            try column(
                """
                SELECT json_extract(value, '$.path') FROM jobs INDEXED BY jobs_staged, json_each(staged)
                WHERE staged IS NOT NULL AND state IN \(Self.unfinished)
                UNION ALL
                SELECT json_extract(value, '$.staging') FROM jobs INDEXED BY jobs_intending, json_each(intent, '$.steps')
                WHERE intent IS NOT NULL AND disposed = 0
                UNION ALL
                SELECT json_extract(value, '$.staging') || \(PublishIntent.aside)
                FROM jobs INDEXED BY jobs_intending, json_each(intent, '$.steps')
                WHERE intent IS NOT NULL AND disposed = 0 AND json_extract(value, '$.replaces') IS NOT NULL
                """))
    }

    /// Whether any original of an ended job still has to be moved, or is being brought back.
    package nonisolated func movesOriginals() throws -> Bool {
        try isAny(
            """
            SELECT 1 FROM jobs INDEXED BY jobs_undisposed WHERE disposed = 0 AND \(Self.isFinal)
            UNION ALL SELECT 1 FROM jobs INDEXED BY jobs_returning WHERE returns IS NOT NULL LIMIT 1
            """)
    }

    /// Returns the ended jobs of an inbox, with IDs greater than `id`, whose originals still have to be moved.
    package nonisolated func undisposed(of inbox: String, after id: Int, limit: Int) throws -> [JobRecord] {
        try jobs(
            by: "jobs_undisposed",
            """
            WHERE j.disposed = 0 AND \(Self.isFinal) AND j.returns IS NULL AND j.id > \(id)
                AND json_extract(o.body, '$.inbox') = \(inbox) ORDER BY j.id LIMIT \(limit)
            """)
    }

    /// Returns the end times, by job ID, of the ended jobs among `ids` whose originals still have to be moved.
    package nonisolated func undisposed(_ ids: [Int]) throws -> [Int: Double] {
        let left = try rows(
            """
            SELECT id, finished FROM jobs WHERE id IN \(ids) AND disposed = 0 AND returns IS NULL AND state IN \(Self.final)
            """
        ) { row -> (Int, Double) in try (row["id"], row["finished"] ?? 0) }
        return Dictionary(uniqueKeysWithValues: left)
    }

    /// Returns the inboxes of ended jobs whose originals still have to be moved.
    package nonisolated func undisposedInboxes() throws -> [String] {
        try column(
            """
            SELECT DISTINCT json_extract(body, '$.inbox') FROM orders WHERE id IN
                (SELECT work FROM jobs INDEXED BY jobs_undisposed WHERE disposed = 0 AND \(Self.isFinal))
            """)
    }

    /// Returns the highest IDs that jobs and batches have ever had, including deleted ones, and the last position in
    /// the queue.
    package nonisolated func highest() throws -> (id: Int, position: Int, batch: Int) {
        try first(
            """
            SELECT max(coalesce(MAX(id), 0), (SELECT value FROM marks WHERE name = 'job')) AS job,
                coalesce(MAX(position), 0) AS position,
                max(coalesce((SELECT MAX(id) FROM batches), 0), (SELECT value FROM marks WHERE name = 'batch')) AS batch
            FROM jobs
            """
        ) { try ($0["job"], $0["position"], $0["batch"]) } ?? (0, 0, 0)
    }

    /// Returns the latest time at which the daemon trusted the clock, in seconds; nil if no time is recorded yet.
    package nonisolated func believedTime() throws -> Double? {
        try value("SELECT value FROM marks WHERE name = 'clock'")
    }

    package nonisolated func believe(time: Double) {
        write { try $0.writer.run("INSERT OR REPLACE INTO marks VALUES ('clock', \(Int(time)))") }
    }

    /// Returns the originals that stay in the inbox although jobs have taken them. The identities omit the device.
    package nonisolated func kept(in inbox: String) throws -> [(path: String, file: FileStatus.Identity)] {
        try rows(
            """
            SELECT source, inode, size, modified FROM jobs
            WHERE origin = 'kept' AND source GLOB \(Self.pattern(below: inbox))
            """
        ) { row in
            let (inode, size, modified): (Int, Int, Int) = try (row["inode"], row["size"], row["modified"])
            return (
                try row["source"], FileStatus.Identity(device: 0, inode: inode, size: size, modified: modified)
            )
        }
    }

    package nonisolated func inboxes() throws -> [String] {
        try column("SELECT DISTINCT json_extract(body, '$.inbox') FROM orders")
    }

    /// Returns the job whose original at `source` still has to be processed or moved.
    package nonisolated func job(claimedAt source: String) throws -> JobRecord? {
        try jobs("WHERE j.source = \(source) AND j.disposed = 0 ORDER BY j.id DESC LIMIT 1").first
    }

    /// Returns the jobs with an original in the spool.
    package nonisolated func spooled() throws -> [JobRecord] {
        try jobs("WHERE j.origin = 'spooled' AND j.disposed = 0 AND j.inode != 0 ORDER BY j.id")
    }

    /// Returns the GLOB pattern for paths below a folder.
    private static func pattern(below folder: String) -> String {
        folder.map { "*?[".contains($0) ? "[\($0)]" : String($0) }.joined() + "/*"
    }

    /// Whether any original claimed into this folder still has to be processed or moved.
    package nonisolated func needsClaims(below folder: String) throws -> Bool {
        try isAny(
            """
            SELECT 1 FROM jobs WHERE disposed = 0 AND origin = 'claimed' AND source GLOB \(Self.pattern(below: folder))
            LIMIT 1
            """)
    }

    /// Whether an original at `source` still has to be processed or moved, or is being brought back there.
    package nonisolated func knows(source: String) throws -> Bool {
        try isAny(
            """
            SELECT 1 FROM jobs WHERE source = \(source) AND disposed = 0
            UNION ALL SELECT 1 FROM jobs WHERE returns = \(source) AND returns IS NOT NULL LIMIT 1
            """)
    }

    /// Returns the paths among `sources` for which `knows(source:)` is true.
    package nonisolated func known(among sources: [String]) throws -> Set<String> {
        Set(
            try column(
                """
                SELECT value FROM \(sources)
                WHERE EXISTS (SELECT 1 FROM jobs WHERE source = value AND disposed = 0)
                    OR EXISTS (SELECT 1 FROM jobs WHERE returns = value AND returns IS NOT NULL)
                """))
    }

    /// Finds every original below the folder for which `knows(source:)` is true, and calls `each` with its path
    /// relative to the folder.
    package nonisolated func forEachKnown(in folder: String, _ each: (String) -> Void) throws {
        // "0" follows "/" in ASCII, so the two bounds enclose all paths below the folder.
        let (first, last) = (folder + "/", folder + "0")
        try read { database in
            try database.forEach(
                """
                SELECT substr(source, length(\(first)) + 1) AS path FROM jobs INDEXED BY jobs_by_source
                WHERE source > \(first) AND source < \(last) AND disposed = 0
                UNION ALL SELECT substr(returns, length(\(first)) + 1) FROM jobs INDEXED BY jobs_returning
                WHERE returns > \(first) AND returns < \(last) AND returns IS NOT NULL
                """
            ) { each(try $0["path"]) }
        }
    }

    /// Whether the ledger has jobs of this recipe. The recipe itself may be gone.
    package nonisolated func knows(recipe: String) throws -> Bool {
        try isAny(
            """
            SELECT 1 FROM jobs WHERE work IN (SELECT id FROM orders WHERE json_extract(body, '$.recipe') = \(recipe)) LIMIT 1
            """)
    }
}
