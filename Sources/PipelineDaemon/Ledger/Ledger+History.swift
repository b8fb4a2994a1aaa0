import PipelineModel

/// Jobs that have been: listed, counted, and forgotten.
extension Ledger {
    /// What `list` shows: oldest first, after `id`.
    func list(_ filter: JobFilter, after id: Int, limit: Int) throws -> [JobRecord] {
        try jobs(
            "WHERE j.id > ? \(filter.condition) ORDER BY j.id LIMIT ?",
            [.integer(id)] + filter.values + [.integer(limit)])
    }

    /// The ID after which the newest `count` jobs of the filter begin.
    func start(ofNewest count: Int, _ filter: JobFilter) throws -> Int {
        try read { database in
            try database.first(
                """
                SELECT j.id - 1 FROM jobs j JOIN orders o ON o.id = j.work WHERE 1 \(filter.condition)
                ORDER BY j.id DESC LIMIT 1 OFFSET ?
                """, filter.values + [.integer(max(0, count - 1))]
            ) { $0.integer(0) }
        } ?? 0
    }

    /// The latest job of this path that is `wanted`. A name may come again, in several inboxes.
    func newest(path: String, where wanted: (JobRecord) -> Bool = { _ in true }) throws -> JobRecord? {
        try jobs("WHERE j.path = ? ORDER BY j.id DESC LIMIT 100", [.text(path)]).first(where: wanted)
    }

    func counts() throws -> [JobState: Int] {
        var counts: [JobState: Int] = [:]
        try read { database in
            try database.rows("SELECT state, COUNT(*) FROM jobs GROUP BY state") { row in
                if let state = JobState(rawValue: row.text(0)) { counts[state] = row.integer(1) }
            }
        }
        return counts
    }

    /// How many have failed since then, and are still so.
    func failedCount(since time: Double) throws -> Int {
        try read { database in
            try database.first(
                "SELECT COUNT(*) FROM jobs INDEXED BY jobs_failed WHERE state = 'failed' AND finished >= ?",
                [.real(time)]
            ) { $0.integer(0) }
        } ?? 0
    }

    /// How many rows are forgotten with one statement.
    private static let portion = 1000

    /// Forgets the work orders of which no job is left.
    func forgetOrders() {
        write { database, orders in
            try database.run("DELETE FROM orders WHERE NOT EXISTS (SELECT 1 FROM jobs WHERE work = orders.id)")
            if database.changes > 0 { orders.forget() }
        }
    }

    /// Forgets the oldest of the ended jobs: all but the newest `count`, and those that ended before `time`; hands over how many of
    /// each state. What is left to do, and files that stay in their place as done, are not forgotten.
    func forget(
        allBut count: Int, endedBefore time: Double, done: @escaping @Sendable ([JobState: Int]) -> Void
    ) {
        let forgotten = Handed<[JobState: Int]>([:])
        write(
            { database, _ in
                forgotten.value = [:]
                var ids: [Int] = []
                try database.rows(
                    """
                    DELETE FROM jobs WHERE id IN (
                        SELECT id FROM jobs WHERE state IN ('done', 'failed', 'cancelled') AND disposed = 1 AND origin <> 'kept' AND returns IS NULL
                            AND (finished < ?1 OR id <= (
                                SELECT id FROM jobs WHERE state IN ('done', 'failed', 'cancelled')
                                ORDER BY id DESC LIMIT 1 OFFSET ?2))
                        ORDER BY id LIMIT ?3)
                    RETURNING state, id
                    """, [.real(time), .integer(count), .integer(Self.portion)]
                ) { row in
                    if let state = JobState(rawValue: row.text(0)) { forgotten.value[state, default: 0] += 1 }
                    ids.append(row.integer(1))
                }
                try Self.forgetNeeds(of: ids, database)
            }, done: { done(forgotten.value) })
    }
}

/// Which jobs `list` is asked for.
struct JobFilter {
    var states: [JobState] = []
    var recipe: String?
    var batch: Int?
    /// When a job ended, or was taken when it has not.
    var since: Double?
    var until: Double?

    var condition: String {
        var parts: [String] = []
        if !states.isEmpty { parts.append("j.state IN (\(states.map { "'\($0.rawValue)'" }.joined(separator: ",")))") }
        if recipe != nil {
            parts.append("j.work IN (SELECT id FROM orders WHERE json_extract(body, '$.recipe') = ?)")
        }
        if batch != nil { parts.append("j.batch = ?") }
        if since != nil { parts.append("COALESCE(j.finished, j.created) >= ?") }
        if until != nil { parts.append("COALESCE(j.finished, j.created) < ?") }
        return parts.map { "AND \($0)" }.joined(separator: " ")
    }

    var values: [Database.Value] {
        var values: [Database.Value] = []
        if let recipe { values.append(.text(recipe)) }
        if let batch { values.append(.integer(batch)) }
        for time in [since, until].compactMap(\.self) { values.append(.real(time)) }
        return values
    }
}
