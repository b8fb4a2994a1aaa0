package import JobModel
package import PipelineModel

/// Lists, counts and forgets past jobs.
extension Ledger {
    /// Returns a page of the jobs that match the filter, oldest first, with IDs greater than `id`.
    package nonisolated func list(_ filter: JobFilter, after id: Int, limit: Int) throws -> [JobRecord] {
        try jobs(
            "WHERE j.id IN (\(filter.ids("id > \(id) ORDER BY id LIMIT \(limit)"))) ORDER BY j.id LIMIT \(limit)")
    }

    /// Returns the value of `after` with which `list` returns just the newest `count` matching jobs; 0 if fewer jobs
    /// match.
    package nonisolated func start(ofNewest count: Int, _ filter: JobFilter) throws -> Int {
        let count = max(1, count)
        return try value(
            """
            SELECT id - 1 FROM (\(filter.ids("id > 0 ORDER BY id DESC LIMIT \(count)"))) ORDER BY id DESC
            LIMIT 1 OFFSET \(count - 1)
            """) ?? 0
    }

    /// Returns the IDs of the jobs that match the filter, as contiguous ranges.
    package nonisolated func ids(_ filter: JobFilter) throws -> [ClosedRange<Int>] {
        let ids: [Int] = try column("SELECT id FROM (\(filter.ids("id > 0"))) ORDER BY id")
        var ranges: [ClosedRange<Int>] = []
        for id in ids {
            if let last = ranges.last, last.upperBound + 1 == id {
                ranges[ranges.count - 1] = last.lowerBound...id
            } else {
                ranges.append(id...id)
            }
        }
        return ranges
    }

    /// Returns the latest job with this path that satisfies `wanted`. Checks only the 100 latest jobs with this path:
    /// several inboxes may contain files with the same path, and one inbox may receive such files repeatedly.
    package nonisolated func newest(
        path: String, where wanted: (JobRecord) -> Bool = { _ in true }
    ) throws -> JobRecord? {
        try jobs("WHERE j.path = \(path) ORDER BY j.id DESC LIMIT 100").first(where: wanted)
    }

    package nonisolated func counts() throws -> [JobState: Int] {
        let counts = try rows("SELECT state, COUNT(*) AS count FROM jobs GROUP BY state") { row -> (JobState, Int) in
            try (row["state"], row["count"])
        }
        return Dictionary(uniqueKeysWithValues: counts)
    }

    /// Returns the number of jobs that failed after `time` and are still `failed`.
    package nonisolated func failedCount(since time: Double) throws -> Int {
        try value(
            "SELECT COUNT(*) FROM jobs INDEXED BY jobs_failed WHERE state = 'failed' AND finished >= \(time)") ?? 0
    }

    /// Maximum number of rows that one statement deletes.
    private static let portion = 1000

    /// Forgets work orders that no job uses.
    package nonisolated func forgetOrders() {
        write { ledger in
            try ledger.writer.run(
                """
                DELETE FROM orders WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE work = orders.id)
                    AND NOT EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_redone WHERE former = orders.id)
                """)
            if ledger.writer.changes > 0 { ledger.orderRows = [:] }
        }
    }

    /// Forgets finished batches without jobs. Keeps the latest batch, because clients may still add jobs to it.
    package nonisolated func forgetBatches() {
        write { ledger in
            try ledger.writer.run(
                """
                DELETE FROM batches WHERE finished IS NOT NULL AND open = 0 AND id < (SELECT MAX(id) FROM batches)
                    AND NOT EXISTS (SELECT 1 FROM tallies WHERE batch = batches.id AND jobs > 0)
                """)
        }
    }

    /// Forgets up to `portion` jobs that ended before `time`, or that are not among the newest `count` ended jobs.
    /// Passes the numbers of forgotten jobs, by state, to `done`. Keeps jobs whose original stays in the inbox.
    package nonisolated func forget(
        allBut count: Int, endedBefore time: Double, done: @escaping @Sendable ([JobState: Int]) -> Void
    ) {
        write(
            wanted: .sometime, refused: [:],
            { ledger in
                let gone = try ledger.writer.rows(
                    """
                    DELETE FROM jobs WHERE id IN (
                        SELECT id FROM jobs WHERE \(Self.forgettable) AND origin <> 'kept' AND (finished < \(time) OR id <= (
                                SELECT id FROM jobs WHERE state IN \(Self.final) ORDER BY id DESC LIMIT 1 OFFSET \(count)))
                        ORDER BY id LIMIT \(Self.portion))
                    RETURNING id, state
                    """, JobEnd.init)
                try ledger.forgetNeeds(of: gone.map(\.id))
                return gone.reduce(into: [:]) { $0[$1.state, default: 0] += 1 }
            }, done: done)
    }

    /// Forgets up to `portion` chosen jobs that are over and ended before `time`, with the records of their kept files.
    /// Passes the numbers of forgotten jobs, by state, to `done`. Keeps the jobs in `except`.
    package nonisolated func forget(
        _ choice: JobChoice, endedBefore time: Double, except: [Int],
        done: @escaping @Sendable ([JobState: Int]) -> Void
    ) {
        write(isAsked: true, refused: [:]) { ledger in
            let gone = try ledger.writer.rows(
                """
                DELETE FROM jobs WHERE id IN (
                    SELECT id FROM jobs WHERE \(Self.forgettable) AND origin <> 'kept' AND finished < \(time)
                        AND id NOT IN \(except) AND \(choice.condition) LIMIT \(Self.portion))
                RETURNING id, state
                """, JobEnd.init)
            let ids = gone.map(\.id)
            try ledger.forgetNeeds(of: ids)
            try ledger.writer.run("DELETE FROM kept WHERE job IN \(ids)")
            return gone.reduce(into: [:]) { $0[$1.state, default: 0] += 1 }
        } done: {
            done($0)
        }
    }

    /// Returns the number of the chosen jobs that are over but must stay in the ledger, because their originals are
    /// still in an inbox. If the ledger forgot such a job, the inbox would take its original again.
    package nonisolated func unforgettable(_ choice: JobChoice, endedBefore time: Double) throws -> Int {
        try value(
            """
            SELECT COUNT(*) FROM jobs WHERE \(Self.forgettable) AND origin = 'kept' AND finished < \(time)
                AND \(choice.condition)
            """) ?? 0
    }

    private static let forgettable: SQL = "state IN \(final) AND disposed = 1 AND returns IS NULL"
}

extension JobFilter {
    /// All conditions except the states.
    private var conditions: [SQL] {
        let conditions: [SQL?] = [
            recipe.map { "+work IN (SELECT id FROM orders WHERE json_extract(body, '$.recipe') = \($0))" },
            batch.map { "batch = \($0)" }, before.map { "id < \($0)" },
            since.map { "COALESCE(finished, created) >= \($0)" }, until.map { "COALESCE(finished, created) < \($0)" },
            place.map { "(source = \($0) OR substr(source, 1, length(\($0)) + 1) = \($0) || '/')" },
        ]
        return conditions.compactMap(\.self)
    }

    /// Returns a query for the IDs of the matching jobs, with one SELECT for each state. `wanted` contains the order
    /// and the limit of each SELECT. For one state, SQLite reads the jobs in index order. If one SELECT covered several
    /// states, or used the index on `work`, SQLite would collect and sort all matching jobs. The `+` in `conditions`
    /// keeps SQLite from using the index on `work`.
    func ids(_ wanted: SQL) -> SQL {
        let last: SQL = (conditions + [wanted]).joined(by: " AND ")
        return stateConditions.map { "SELECT id FROM (SELECT id FROM jobs WHERE \($0)\(last))" }
            .joined(by: " UNION ALL ")
    }

    /// The conditions for the states. They must be disjoint: if a job met two of them, UNION ALL would return it twice.
    private var stateConditions: [SQL] {
        guard !states.isEmpty else { return [""] }
        let stopped = FirstQueue.allCases.filter(stoppedQueues.contains)
        var conditions: [SQL] = JobState.allCases.filter { $0 != .queued && states.contains($0) }
            .map { "state = \(literal: $0) AND " }
        switch (states.contains(.queued), states.contains(.waiting)) {
        case (true, true): conditions.append("state = 'queued' AND ")
        case (true, false) where stopped.count < FirstQueue.allCases.count:
            conditions.append(stopped.reduce("state = 'queued' AND ") { "\($0)NOT (\($1.condition)) AND " })
        case (false, true): conditions += stopped.map { "state = 'queued' AND \($0.condition) AND " }
        default: break
        }
        return conditions.isEmpty ? ["0 AND "] : conditions
    }
}
