package import JobModel
package import PipelineModel

/// Lists, counts and forgets past jobs.
extension Ledger {
    /// A page of the jobs that match the filter, oldest first, with IDs greater than `id`.
    package nonisolated func list(_ filter: JobFilter, after id: Int, limit: Int) throws -> [JobRecord] {
        try jobs(
            "WHERE j.id IN (\(filter.ids("id > ?1 ORDER BY id LIMIT ?2"))) ORDER BY j.id LIMIT ?2",
            [.integer(id), .integer(limit)] + filter.values)
    }

    /// The ID after which the newest `count` jobs that match the filter start.
    package nonisolated func start(ofNewest count: Int, _ filter: JobFilter) throws -> Int {
        try first(
            """
            SELECT id - 1 FROM (\(filter.ids("id > ?1 ORDER BY id DESC LIMIT ?2"))) ORDER BY id DESC LIMIT 1 OFFSET ?2 - 1
            """, [.integer(0), .integer(max(1, count))] + filter.values
        ) { $0.integer(0) } ?? 0
    }

    /// The IDs of the jobs that match the filter, as contiguous ranges.
    package nonisolated func ids(_ filter: JobFilter) throws -> [ClosedRange<Int>] {
        let ids = try rows(
            "SELECT id FROM (\(filter.ids("id > ?1 AND ?2"))) ORDER BY id", [.integer(0), .integer(1)] + filter.values
        ) { $0.integer(0) }
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

    /// The latest job with this path that satisfies `wanted`, among the 100 latest jobs with this path. Several inboxes
    /// may use the same name, and each may use it repeatedly.
    package nonisolated func newest(
        path: String, where wanted: (JobRecord) -> Bool = { _ in true }
    ) throws -> JobRecord? {
        try jobs("WHERE j.path = ? ORDER BY j.id DESC LIMIT 100", [.text(path)]).first(where: wanted)
    }

    package nonisolated func counts() throws -> [JobState: Int] {
        try rows("SELECT state, COUNT(*) FROM jobs GROUP BY state") { (JobState(rawValue: $0.text(0)), $0.integer(1)) }
            .reduce(into: [:]) { counts, one in if let state = one.0 { counts[state] = one.1 } }
    }

    /// The number of jobs that failed after `time` and are still `failed`.
    package nonisolated func failedCount(since time: Double) throws -> Int {
        try first(
            "SELECT COUNT(*) FROM jobs INDEXED BY jobs_failed WHERE state = 'failed' AND finished >= ?", [.real(time)]
        ) { $0.integer(0) } ?? 0
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

    /// Forgets finished batches without jobs. Keeps the latest batch, because jobs may still be added to it.
    package nonisolated func forgetBatches() {
        write { ledger in
            try ledger.writer.run(
                """
                DELETE FROM batches WHERE finished IS NOT NULL AND open = 0 AND id < (SELECT MAX(id) FROM batches)
                    AND NOT EXISTS (SELECT 1 FROM tallies WHERE batch = batches.id AND jobs > 0)
                """)
        }
    }

    /// Forgets up to `portion` ended jobs, namely jobs that ended before `time` or are not among the newest `count`.
    /// Passes their number, by state, to `done`. Keeps jobs whose original stays in the inbox.
    package nonisolated func forget(
        allBut count: Int, endedBefore time: Double, done: @escaping @Sendable ([JobState: Int]) -> Void
    ) {
        write(
            wanted: .sometime, refused: [:],
            { ledger in
                let gone = try ledger.writer.rows(
                    """
                    DELETE FROM jobs WHERE id IN (
                        SELECT id FROM jobs WHERE \(Self.forgettable) AND origin <> 'kept' AND (finished < ?1 OR id <= (
                                SELECT id FROM jobs WHERE state IN \(Self.final) ORDER BY id DESC LIMIT 1 OFFSET ?2))
                        ORDER BY id LIMIT ?3)
                    RETURNING state, id
                    """, [.real(time), .integer(count), .integer(Self.portion)]
                ) { (state: JobState(rawValue: $0.text(0)), id: $0.integer(1)) }
                try ledger.forgetNeeds(of: gone.map(\.id))
                return gone.reduce(into: [:]) { counts, one in
                    if let state = one.state { counts[state, default: 0] += 1 }
                }
            }, done: done)
    }

    /// Forgets up to `portion` of the chosen jobs that are over and ended before `time`, with the records of their kept
    /// files. Passes their number, by state, to `done`. Keeps the jobs in `except`, for which a client still waits.
    package nonisolated func forget(
        _ choice: JobChoice, endedBefore time: Double, except: [Int],
        done: @escaping @Sendable ([JobState: Int]) -> Void
    ) {
        write(isAsked: true, refused: [:]) { ledger in
            let gone = try ledger.writer.rows(
                """
                DELETE FROM jobs WHERE id IN (
                    SELECT id FROM jobs WHERE \(Self.forgettable) AND origin <> 'kept' AND finished < ?1
                        AND id NOT IN (SELECT value FROM json_each(?2)) AND \(JobChoice.condition(from: 4)) LIMIT ?3)
                RETURNING state, id
                """, [.real(time), .list(except), .integer(Self.portion)] + choice.values
            ) { (state: JobState(rawValue: $0.text(0)), id: $0.integer(1)) }
            let ids = gone.map(\.id)
            try ledger.forgetNeeds(of: ids)
            try ledger.writer.run("DELETE FROM kept WHERE job IN (SELECT value FROM json_each(?))", [.list(ids)])
            return gone.reduce(into: [:]) { counts, one in
                if let state = one.state { counts[state, default: 0] += 1 }
            }
        } done: {
            done($0)
        }
    }

    /// Number of the chosen jobs that are over but must stay in the ledger, because their originals are still in an
    /// inbox. If the ledger forgot such a job, the inbox would take its original again.
    package nonisolated func unforgettable(_ choice: JobChoice, endedBefore time: Double) throws -> Int {
        try first(
            """
            SELECT COUNT(*) FROM jobs WHERE \(Self.forgettable) AND origin = 'kept' AND finished < ?1
                AND \(JobChoice.condition(from: 2))
            """, [.real(time)] + choice.values
        ) { $0.integer(0) } ?? 0
    }

    private static let forgettable = "state IN \(final) AND disposed = 1 AND returns IS NULL"
}

extension JobFilter {
    /// The conditions with their values. `ids` numbers their parameters from ?3.
    private var parts: [(sql: String, value: Database.Value)] {
        [
            recipe.map { ("+work IN (SELECT id FROM orders WHERE json_extract(body, '$.recipe') = ?)", .text($0)) },
            batch.map { ("batch = ?", .integer($0)) }, before.map { ("id < ?", .integer($0)) },
            since.map { ("COALESCE(finished, created) >= ?", .real($0)) },
            until.map { ("COALESCE(finished, created) < ?", .real($0)) },
            place.map { ("(source = ? OR substr(source, 1, length(?) + 1) = ? || '/')", .text($0)) },
        ].compactMap(\.self)
    }

    /// Returns a query for the IDs of the matching jobs, with one SELECT for each state. `wanted` contains the order
    /// and the limit of each SELECT. For one state, SQLite reads the jobs in index order. If one SELECT covered several
    /// states, or used the index on `work`, SQLite would collect and sort all matching jobs. The `+` in the condition
    /// on the recipe prevents the use of that index.
    func ids(_ wanted: String) -> String {
        let conditions = zip(3..., parts).map { "\($1.sql.replacing("?", with: "?\($0)")) AND " }.joined()
        return parts(of: states).map { "SELECT id FROM (SELECT id FROM jobs WHERE \($0)\(conditions)\(wanted))" }
            .joined(separator: " UNION ALL ")
    }

    /// The conditions for the states. They must be disjoint: if a job met two of them, UNION ALL would return it twice.
    private func parts(of states: [JobState]) -> [String] {
        guard !states.isEmpty else { return [""] }
        let chosen = Set(states)
        var conditions = chosen.subtracting([.queued]).map { "state = '\($0.rawValue)' AND " }
        let held = Set(held)
        switch (chosen.contains(.queued), chosen.contains(.waiting)) {
        case (true, true): conditions.append("state = 'queued' AND ")
        case (true, false) where held.count < FirstQueue.allCases.count:
            conditions.append("state = 'queued' AND " + held.map { "NOT (\($0.condition)) AND " }.joined())
        case (false, true): conditions += held.map { "state = 'queued' AND \($0.condition) AND " }
        default: break
        }
        return conditions.isEmpty ? ["0 AND "] : conditions.sorted()
    }

    var values: [Database.Value] { parts.map(\.value) }
}
