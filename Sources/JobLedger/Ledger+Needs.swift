package import JobModel
package import PipelineModel
import ServiceProgram

/// Dependencies between jobs, in the table `needs`. A satisfied dependency (`met`) stays satisfied, and its row is kept
/// for `pipectl show`.
///
/// Every change that ends jobs calls `follow` within its own transaction, so that a crash can't separate the end of a
/// job from its effects on dependents. The table `ended` contains the jobs whose dependents still have to be updated.
extension Ledger {
    /// The reason of a job that waits for dependencies, such as `after job 5 and 2 more`. Each read computes the text,
    /// because it changes whenever a dependency ends.
    static let needsText: SQL = """
        (SELECT 'after job ' || MIN(n.after) || CASE COUNT(*) WHEN 1 THEN '' ELSE ' and ' || (COUNT(*) - 1) || ' more' END
            FROM needs n WHERE n.job = j.id AND n.met = 0)
        """

    /// Whether a job depends on a job of its own batch, directly or through other jobs. Only unmet dependencies count.
    static let comesAfterOwn: SQL = """
        EXISTS (
            WITH RECURSIVE before(id) AS (
                SELECT n.after FROM needs n WHERE n.job = jobs.id AND n.met = 0
                UNION SELECT n.after FROM before b JOIN needs n ON n.job = b.id AND n.met = 0
            ) SELECT 1 FROM before JOIN jobs a ON a.id = before.id WHERE a.batch = jobs.batch)
        """

    /// Whether a row of `jobs` has unmet dependencies.
    private static let hasUnmetNeeds: SQL = "EXISTS (SELECT 1 FROM needs n WHERE n.job = jobs.id AND n.met = 0)"

    // MARK: - When jobs end

    /// Fills `ended` with the jobs that match `condition`. These jobs have ended, or end in this transaction.
    func end(_ condition: SQL) throws {
        try writer.run("DELETE FROM ended")
        try writer.run("INSERT INTO ended (id) SELECT id FROM jobs WHERE \(condition)")
    }

    /// Maximum number of rows that one statement changes. SQLite keeps all changes of a statement in memory until the
    /// statement finishes.
    static let changedAtOnce = 20_000

    /// Calls `change` for each portion of up to `changedAtOnce` jobs in `ended`. `which` is the condition that selects
    /// the portion.
    func forEachEnded(_ change: (_ which: SQL) throws -> Void) throws {
        var last = 0
        while let end: Int = try writer.value(
            """
            SELECT MAX(id) FROM (SELECT id FROM ended WHERE id > \(last) ORDER BY id LIMIT \(literal: Self.changedAtOnce))
            """)
        {
            try change("id IN (SELECT id FROM ended WHERE id > \(last) AND id <= \(end))")
            last = end
        }
    }

    /// Updates the dependents of a job that has ended.
    func follow(_ job: Int) throws {
        guard try hasFollowers(job) else { return }
        try end("id = \(job)")
        try followEnded()
    }

    private func hasFollowers(_ job: Int) throws -> Bool {
        try writer.isAny("SELECT 1 FROM needs WHERE after = \(job) AND met = 0 LIMIT 1")
    }

    /// Updates all waiting jobs that depend on an ended job, or on a job that the ledger does not know. Called at
    /// startup, and after users have brought jobs back: such a job must fail again if a dependency was not brought
    /// back.
    package nonisolated func followAll(done: @escaping @Sendable () -> Void) {
        write(
            wanted: .now,
            { ledger in
                try ledger.writer.run("DELETE FROM ended")
                try ledger.writer.run(
                    """
                    INSERT INTO ended (id) SELECT DISTINCT n.after FROM needs n
                        JOIN jobs b ON b.id = n.job AND b.hold = 'after' LEFT JOIN jobs a ON a.id = n.after
                    WHERE n.met = 0 AND (a.id IS NULL OR a.state IN \(Self.final))
                    """)
                try ledger.followEnded()
            }, done: done)
    }

    /// Updates the dependents of the jobs in `ended`: queues them, fails them, or leaves them waiting for other jobs.
    func followEnded() throws {
        guard try writer.isAny("SELECT 1 FROM needs WHERE met = 0 LIMIT 1") else {
            return try writer.run("DELETE FROM ended")
        }
        let now = Timestamp.now()
        // Adds to `ended` the dependents that can't run any more because a job in `ended` has failed, was cancelled or
        // is unknown. Adds their own dependents recursively. `cause` is the dependency at fault.
        try writer.run(
            """
            INSERT OR IGNORE INTO ended (id, cause)
            WITH RECURSIVE fallen(id, cause) AS (
                SELECT n.job, n.after FROM ended e JOIN needs n ON n.after = e.id JOIN jobs b ON b.id = n.job
                    LEFT JOIN jobs a ON a.id = e.id
                WHERE n.met = 0 AND b.hold = 'after' AND b.anyway = 0 AND COALESCE(a.state, '') <> 'done'
                UNION
                SELECT n.job, n.after FROM fallen f JOIN needs n ON n.after = f.id JOIN jobs b ON b.id = n.job
                WHERE n.met = 0 AND b.hold = 'after' AND b.anyway = 0
            ) SELECT id, cause FROM fallen
            """)
        let failed: [Int] = try writer.column(
            """
            UPDATE jobs SET state = 'failed', hold = NULL, reason = NULL, finished = \(now), error = why.error,
                advice = why.advice, failure = 'dependency'
            FROM (
                SELECT e.id,
                    'job ' || e.cause || ', which it comes after, '
                        || CASE WHEN a.id IS NULL THEN 'is not known any more'
                            WHEN a.state = 'cancelled' THEN 'was cancelled' ELSE 'failed' END AS error,
                    '`pipectl retry ' || e.cause || ' ' || e.id || '` tries both again; `pipectl depend ' || e.id
                        || ' --remove ' || e.cause || '`, then `pipectl retry ' || e.id || '`, this one alone' AS advice
                FROM ended e LEFT JOIN jobs a ON a.id = e.cause WHERE e.cause IS NOT NULL
            ) AS why
            WHERE why.id = jobs.id RETURNING id
            """)
        try add(.failed, text: "error", at: now, where: "id IN (SELECT id FROM ended WHERE cause IS NOT NULL)")
        consequences.failed += failed
        consequences.move(failed.count, from: .waiting, to: .failed)
        try writer.run(
            """
            UPDATE needs SET met = 1 WHERE met = 0 AND after IN (SELECT id FROM ended)
                AND ((SELECT state FROM jobs WHERE id = after) = 'done' OR (SELECT anyway FROM jobs WHERE id = job) = 1)
            """)
        try release("id IN (SELECT n.job FROM ended e JOIN needs n ON n.after = e.id)")
        try writer.run("DELETE FROM ended")
    }

    /// Queues the waiting jobs that match `condition` and have no unmet dependencies. They keep their positions in the
    /// queue.
    private func release(_ condition: SQL) throws {
        let which: SQL = "hold = 'after' AND \(condition) AND NOT \(Self.hasUnmetNeeds)"
        try add(.queued, where: which)
        let ranks: [Int] = try writer.column(
            "UPDATE jobs SET state = 'queued', hold = NULL, reason = NULL WHERE \(which) RETURNING priority")
        guard let highest = ranks.max() else { return }
        consequences.released = max(consequences.released ?? .low, Priority(rank: highest))
        consequences.move(ranks.count, from: .waiting, to: .queued)
    }

    /// Returns the jobs among `jobs` that have unmet dependencies.
    func jobsWithNeeds(among jobs: [Int]) throws -> [Int] {
        try writer.column("SELECT DISTINCT job FROM needs WHERE met = 0 AND job IN \(jobs) ORDER BY job")
    }

    /// Makes a queued job wait if it has unmet dependencies.
    func waitForNeeds(_ job: Int) throws {
        try writer.run(
            """
            UPDATE jobs SET state = 'waiting', hold = 'after'
            WHERE id = \(job) AND state = 'queued' AND \(Self.hasUnmetNeeds)
            """)
        guard writer.changes > 0 else { return }
        consequences.move(from: .queued, to: .waiting)
        try logNeeds(of: job)
    }

    private func logNeeds(of job: Int) throws {
        try writer.run(
            """
            INSERT INTO events (time, kind, job, state, text)
                SELECT \(Timestamp.now()), 'job', j.id, 'waiting', \(Self.needsText) FROM jobs j WHERE j.id = \(job)
            """)
    }

    /// Deletes the dependencies of deleted jobs, and the met dependencies of other jobs on deleted jobs. Unmet
    /// dependencies on deleted jobs stay, because a dependent that is brought back must not run as if these
    /// dependencies were met.
    func forgetNeeds(of jobs: [Int]) throws {
        guard !jobs.isEmpty else { return }
        try writer.run("DELETE FROM needs WHERE job IN \(jobs)")
        try writer.run("DELETE FROM needs WHERE met = 1 AND after IN \(jobs)")
    }

    // MARK: - Changes to dependencies

    /// Adds new jobs with dependencies, and their batches. Adds nothing if there is a problem.
    package nonisolated func insert(
        _ jobs: [JobRecord], batches: [BatchRecord] = [], after others: [Int],
        done: @escaping @Sendable (NeedsAnswer) -> Void
    ) {
        write(
            isAsked: true, refused: .refused,
            { ledger in
                // All new jobs have the same dependencies, and depend only on existing jobs. So checking the first new
                // job suffices.
                if let job = jobs.first,
                    let problem = try ledger.problem(job.id, after: others, anyway: job.anyway)
                {
                    return problem
                }
                for batch in batches { try ledger.insert(batch) }
                for job in jobs {
                    try ledger.insert(job)
                    ledger.consequences.counts[job.state, default: 0] += 1
                    guard !job.state.isFinal else { continue }
                    try ledger.need(job.id, others, anyway: job.anyway)
                    try ledger.waitForNeeds(job.id)
                }
                ledger.consequences.released = jobs.map { Priority(rank: $0.priority) }.max()
                return .done
            }, done: done)
    }

    /// Adds and removes dependencies of a job. Changes nothing if there is a problem.
    package nonisolated func depend(
        _ job: Int, after others: [Int], remove: [Int], anyway: Bool, done: @escaping @Sendable (NeedsAnswer) -> Void
    ) {
        write(
            isAsked: true, refused: .refused,
            { try $0.depend(job, after: others, remove: remove, anyway: anyway) }, done: done)
    }

    private func depend(_ job: Int, after others: [Int], remove: [Int], anyway: Bool) throws -> NeedsAnswer {
        let now = try writer.first(
            // A job in a redo counts as done, because it has run before.
            """
            SELECT CASE WHEN former IS NULL THEN state ELSE 'done' END AS state, hold, anyway, segment FROM jobs
            WHERE id = \(job)
            """
        ) { row -> (state: JobState, waitReason: JobRecord.WaitReason?, anyway: Bool, segment: Int) in
            try (row["state"], row["hold"], row["anyway"], row["segment"])
        }
        guard let now else { return .unknown(job) }
        switch (now.state, now.waitReason) {
        case (.failed, _), (.cancelled, _), (.waiting, .after): break
        case (.queued, _) where now.segment == 0: break
        case (.waiting, .place) where now.segment == 0: break
        default: return .begun(now.state)
        }
        let unneeded: Int? = try writer.value(
            "SELECT value FROM \(remove) WHERE value NOT IN (SELECT after FROM needs WHERE job = \(job)) LIMIT 1")
        if let unneeded { return .unneeded(unneeded) }
        let anyway = anyway || now.anyway
        if let problem = try problem(job, after: others, anyway: anyway) { return problem }
        try writer.run("DELETE FROM needs WHERE job = \(job) AND after IN \(remove)")
        try need(job, others, anyway: anyway)
        try applyNeeds(of: job, now.state, now.waitReason)
        // Rechecks all unfinished batches, because a barrier may now have to wait for a different set of jobs.
        try writer.run("INSERT OR IGNORE INTO arrivals (batch) SELECT id FROM batches WHERE finished IS NULL")
        return .done
    }

    private func need(_ job: Int, _ others: [Int], anyway: Bool) throws {
        // Recomputes `met` in existing rows, because a dependency that was met may have been brought back since.
        try writer.run(
            """
            INSERT INTO needs (job, after, met)
                SELECT \(job), id, state = 'done' OR (\(anyway) AND state IN \(Self.final)) FROM jobs WHERE id IN \(others)
                ON CONFLICT DO UPDATE SET met = excluded.met
            """)
        guard anyway else { return }
        try writer.run("UPDATE jobs SET anyway = 1 WHERE id = \(job)")
        try writer.run(
            """
            UPDATE needs SET met = 1 WHERE job = \(job) AND met = 0
                AND NOT EXISTS (SELECT 1 FROM jobs WHERE id = after AND state NOT IN \(Self.final))
            """)
    }

    /// Updates the state of an unfinished job after its dependencies have changed. An ended job keeps its state; the
    /// dependencies take effect when the job is brought back.
    private func applyNeeds(of job: Int, _ state: JobState, _ waitReason: JobRecord.WaitReason?) throws {
        switch (state, waitReason) {
        case (.queued, _): try waitForNeeds(job)
        case (.waiting, .after):
            try release("id = \(job)")
            if consequences.isEmpty { try logNeeds(of: job) }
        case (.waiting, .place):
            // The job now waits for its dependencies first, and for the missing resource afterwards.
            try writer.run(
                "UPDATE jobs SET hold = 'after', reason = NULL WHERE id = \(job) AND \(Self.hasUnmetNeeds)")
            if writer.changes > 0 { try logNeeds(of: job) }
        default: break
        }
    }

    /// Returns the reason why a job can't depend on these jobs; nil if there is no obstacle.
    private func problem(_ job: Int, after others: [Int], anyway: Bool) throws -> NeedsAnswer? {
        if others.contains(job) { return .circle([job, job]) }
        if let unknown = try Self.unknown(of: others, writer) { return .unknown(unknown) }
        if !anyway {
            let over = try writer.first(
                "SELECT id, state FROM jobs WHERE id IN \(others) AND state IN ('failed', 'cancelled') LIMIT 1"
            ) { try NeedsAnswer.over($0["id"], $0["state"]) }
            if let over { return over }
        }
        return try circle(job, after: others).map(NeedsAnswer.circle)
    }

    /// Returns the cycle from a job through its new dependencies back to itself; nil if there is no cycle.
    private func circle(_ job: Int, after others: [Int]) throws -> [Int]? {
        // A job without dependents, such as a new job, can't be part of a cycle.
        guard try hasFollowers(job) else { return nil }
        let isReached = try writer.isAny(
            """
            WITH RECURSIVE reached(id) AS (
                SELECT value FROM \(others)
                UNION SELECT n.after FROM reached r JOIN needs n ON n.job = r.id AND n.met = 0
            ) SELECT 1 FROM reached WHERE id = \(job) LIMIT 1
            """)
        guard isReached else { return nil }
        let steps = try writer.rows(
            """
            WITH RECURSIVE reached(id, before) AS (
                SELECT value, \(job) FROM \(others)
                UNION SELECT n.after, r.id FROM reached r JOIN needs n ON n.job = r.id AND n.met = 0 WHERE r.id <> \(job)
            ) SELECT id, before FROM reached
            """
        ) { row -> (Int, Int) in try (row["id"], row["before"]) }
        let before = Dictionary(steps, uniquingKeysWith: { first, _ in first })
        var path = [job]
        var last = job
        while let next = before[last] {
            path.append(next)
            last = next
            if next == job { break }
        }
        return path.reversed()
    }

    /// Returns one of these jobs that would fail as soon as it was brought back. Also returns the job's unmet
    /// dependency, and the state of this dependency (nil if the ledger has forgotten the dependency). Ignores
    /// dependencies that the caller brings back as well: they are in `jobs`, or their state is in `states`.
    package nonisolated func hindered(
        of jobs: [Int], bringingBack states: [JobState]
    ) throws -> (job: Int, after: Int, state: JobState?)? {
        try first(
            """
            SELECT n.job, n.after, a.state FROM needs n LEFT JOIN jobs a ON a.id = n.after
            WHERE n.job IN \(jobs) AND n.met = 0 AND n.after NOT IN \(jobs)
                AND (a.id IS NULL OR a.state IN \(Self.final)) AND COALESCE(a.state, '') NOT IN \(states) LIMIT 1
            """
        ) { try ($0["job"], $0["after"], $0["state"]) }
    }

    private static let mostNeighbours = 100

    package nonisolated func neighbours(of job: Int) throws -> (after: Neighbours, followers: Neighbours) {
        try read { database in
            (
                try Self.neighbours("after", of: job, by: "job", database),
                try Self.neighbours("job", of: job, by: "after", database)
            )
        }
    }

    private static func neighbours(
        _ other: SQL, of job: Int, by own: SQL, _ database: Database
    ) throws -> Neighbours {
        let jobs = try database.rows(
            """
            SELECT n.\(other) AS id, j.state FROM needs n LEFT JOIN jobs j ON j.id = n.\(other) WHERE n.\(own) = \(job)
            ORDER BY 1 LIMIT \(literal: mostNeighbours)
            """
        ) { row -> (id: Int, state: JobState?) in try (row["id"], row["state"]) }
        let count = try database.value("SELECT COUNT(*) FROM needs WHERE \(own) = \(job)") ?? 0
        return Neighbours(jobs: jobs, count: count)
    }
}
