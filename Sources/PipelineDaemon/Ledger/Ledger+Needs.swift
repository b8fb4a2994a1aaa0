import DaemonRuntime
import PipelineModel

/// What comes after what. A row of `needs` is kept once it is met, so that it can be told; what is met stays met.
///
/// Whatever ends jobs calls `follow` within its own transaction: no crash can come between the end of a job and what follows from it.
extension Ledger {
    /// `ended` names the jobs whose followers are looked for, and the followers that have failed, with the job because of which.
    static func prepareNeeds(_ database: Database) throws {
        try database.script(
            "PRAGMA temp_store=MEMORY; CREATE TEMP TABLE ended (id INTEGER PRIMARY KEY, cause INTEGER) STRICT")
    }

    /// What a job waits for, as its reason: told when it is asked for, because it changes with each job that ends.
    static let needsText = """
        (SELECT 'after job ' || MIN(n.after) || CASE COUNT(*) WHEN 1 THEN '' ELSE ' and ' || (COUNT(*) - 1) || ' more' END
            FROM needs n WHERE n.job = j.id AND n.met = 0)
        """

    /// Depends transitively on its own batch.
    static let comesAfterOwn = """
        EXISTS (
            WITH RECURSIVE before(id) AS (
                SELECT n.after FROM needs n WHERE n.job = jobs.id AND n.met = 0
                UNION SELECT n.after FROM before b JOIN needs n ON n.job = b.id AND n.met = 0
            ) SELECT 1 FROM before JOIN jobs a ON a.id = before.id WHERE a.batch = jobs.batch)
        """

    private static let final = "('done', 'failed', 'cancelled')"

    // MARK: - When jobs end

    /// The jobs that `condition` speaks of are about to end, or have ended.
    static func end(_ condition: String, _ values: [Database.Value], _ database: Database) throws {
        try database.run("DELETE FROM ended")
        try database.run("INSERT INTO ended (id) SELECT id FROM jobs WHERE \(condition)", values)
    }

    /// One job has ended.
    static func follow(_ job: Int, _ database: Database) throws -> Consequences {
        let isNeeded =
            try database.first("SELECT 1 FROM needs WHERE after = ? AND met = 0 LIMIT 1", [.integer(job)]) { _ in true }
        guard isNeeded == true else { return Consequences() }
        try end("id = ?", [.integer(job)], database)
        return try followEnded(database)
    }

    /// What has to be made up for: at the start, and when jobs have been brought back whose needs will not be met.
    func followAll(done: @escaping @Sendable () -> Void) {
        let consequences = Handed(Consequences())
        write(
            wanted: .now,
            { database, _ in
                try database.run("DELETE FROM ended")
                try database.run(
                    """
                    INSERT INTO ended (id) SELECT DISTINCT n.after FROM needs n
                        JOIN jobs b ON b.id = n.job AND b.hold = 'after' LEFT JOIN jobs a ON a.id = n.after
                    WHERE n.met = 0 AND (a.id IS NULL OR a.state IN \(Self.final))
                    """)
                consequences.value = try Self.followEnded(database)
            },
            done: { [self] in
                tell(consequences.value)
                done()
            })
    }

    /// The jobs in `ended` have ended: those that come after them are queued, fail, or wait for others yet.
    static func followEnded(_ database: Database) throws -> Consequences {
        var consequences = Consequences()
        let now = Database.Value.real(Timestamp.now())
        // Whatever can't run any more, and whatever comes after that.
        try database.run(
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
        try database.run(
            """
            INSERT INTO events (time, kind, job, state) SELECT ?, 'job', jobs.id, 'failed' FROM ended JOIN jobs USING (id)
            WHERE cause IS NOT NULL ORDER BY position
            """, [now])
        try database.rows(
            """
            UPDATE jobs SET state = 'failed', hold = NULL, reason = NULL, finished = ?, error = why.error, advice = why.advice,
                failure = 'dependency'
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
            """, [now]
        ) { consequences.failed.append($0.integer(0)) }
        consequences.move(consequences.failed.count, from: .waiting, to: .failed)
        try database.run(
            """
            UPDATE needs SET met = 1 WHERE met = 0 AND after IN (SELECT id FROM ended)
                AND ((SELECT state FROM jobs WHERE id = after) = 'done' OR (SELECT anyway FROM jobs WHERE id = job) = 1)
            """)
        try release("id IN (SELECT n.job FROM ended e JOIN needs n ON n.after = e.id)", [], database, &consequences)
        try database.run("DELETE FROM ended")
        return consequences
    }

    /// Of the jobs that `condition` speaks of, those whose needs are all met go back to their place in the queue.
    private static func release(
        _ condition: String, _ values: [Database.Value], _ database: Database, _ consequences: inout Consequences
    ) throws {
        let which = """
            hold = 'after' AND \(condition) AND NOT EXISTS (SELECT 1 FROM needs n WHERE n.job = jobs.id AND n.met = 0)
            """
        try database.run(
            """
            INSERT INTO events (time, kind, job, state) SELECT ?, 'job', id, 'queued' FROM jobs
            WHERE \(which) ORDER BY position
            """, [.real(Timestamp.now())] + values)
        var count = 0
        try database.rows(
            "UPDATE jobs SET state = 'queued', hold = NULL, reason = NULL WHERE \(which) RETURNING priority", values
        ) { row in
            count += 1
            consequences.released = max(consequences.released ?? .low, Priority(rank: row.integer(0)))
        }
        consequences.move(count, from: .waiting, to: .queued)
    }

    /// A job that is recorded as queued waits, if it has needs that are not met.
    static func holdBack(_ job: Int, _ database: Database) throws -> Consequences {
        var consequences = Consequences()
        try database.run(
            """
            UPDATE jobs SET state = 'waiting', hold = 'after' WHERE id = ? AND state = 'queued'
                AND EXISTS (SELECT 1 FROM needs n WHERE n.job = jobs.id AND n.met = 0)
            """, [.integer(job)])
        guard database.changes > 0 else { return consequences }
        consequences.move(from: .queued, to: .waiting)
        try tellNeeds(of: job, database)
        return consequences
    }

    private static func tellNeeds(of job: Int, _ database: Database) throws {
        try database.run(
            """
            INSERT INTO events (time, kind, job, state, text) SELECT ?, 'job', j.id, 'waiting', \(needsText) FROM jobs j
            WHERE j.id = ?
            """, [.real(Timestamp.now()), .integer(job)])
    }

    /// Jobs are forgotten. What was not met stays: who comes back must not run as if it had been.
    static func forgetNeeds(of jobs: [Int], _ database: Database) throws {
        guard !jobs.isEmpty else { return }
        let ids = [Database.Value.text(try JSONText.encode(jobs))]
        try database.run("DELETE FROM needs WHERE job IN (SELECT value FROM json_each(?))", ids)
        try database.run("DELETE FROM needs WHERE met = 1 AND after IN (SELECT value FROM json_each(?))", ids)
    }

    // MARK: - When somebody says what comes after what

    /// What becomes of a wish for what is to come after what.
    enum NeedsAnswer: Sendable, Equatable {
        case done
        case unknown(Int)
        /// It is too late: the job has begun, or is done.
        case begun(JobState)
        /// It would come after itself, along this path.
        case circle([Int])
        /// It would come after one that won't become done.
        case over(Int, JobState)
        /// What is to be removed is not there.
        case unneeded(Int)
        /// SQLite refuses it.
        case refused
    }

    /// New jobs, each of which comes after others; all of them, with the batch that they are, or none.
    func insert(
        _ jobs: [JobRecord], batch: BatchRecord? = nil, after others: [Int],
        done: @escaping @Sendable (NeedsAnswer) -> Void
    ) {
        answering(done) { database, orders, consequences in
            // Others are there already, so that what holds for one new job holds for all.
            if let job = jobs.first, let problem = try Self.problem(job.id, after: others, anyway: job.anyway, database)
            {
                return problem
            }
            if let batch { try Self.insert(batch, database) }
            for job in jobs {
                try Self.insert(job, database, orders)
                try Self.event(database, .job(job.id, job.state, job.reason))
                consequences.counts[job.state, default: 0] += 1
                guard !job.state.isFinal else { continue }
                try Self.need(job.id, others, anyway: job.anyway, database)
                for (state, count) in try Self.holdBack(job.id, database).counts {
                    consequences.counts[state, default: 0] += count
                }
            }
            consequences.released = jobs.map { Priority(rank: $0.priority) }.max()
            return .done
        }
    }

    /// Changes what a job comes after, all of it or, with a problem, nothing.
    func depend(
        _ job: Int, after others: [Int], remove: [Int], anyway: Bool, done: @escaping @Sendable (NeedsAnswer) -> Void
    ) {
        answering(done) { database, _, consequences in
            let now = try database.first(
                "SELECT state, hold, anyway, segment FROM jobs WHERE id = ?", [.integer(job)]
            ) { row in
                (
                    state: JobState(rawValue: row.text(0)) ?? .failed,
                    hold: row.optionalText(1).flatMap(JobRecord.Hold.init), anyway: row.integer(2) != 0,
                    segment: row.integer(3)
                )
            }
            guard let now else { return .unknown(job) }
            switch (now.state, now.hold) {
            case (.failed, _), (.cancelled, _), (.waiting, .after): break
            case (.queued, _) where now.segment == 0: break
            case (.waiting, .place) where now.segment == 0: break
            default: return .begun(now.state)
            }
            let removed = Database.Value.text(try JSONText.encode(remove))
            let unneeded = try database.first(
                """
                SELECT value FROM json_each(?) WHERE value NOT IN (SELECT after FROM needs WHERE job = ?) LIMIT 1
                """, [removed, .integer(job)]
            ) { $0.integer(0) }
            if let unneeded { return .unneeded(unneeded) }
            if let problem = try Self.problem(job, after: others, anyway: anyway || now.anyway, database) {
                return problem
            }
            try database.run(
                "DELETE FROM needs WHERE job = ? AND after IN (SELECT value FROM json_each(?))",
                [.integer(job), removed])
            try Self.need(job, others, anyway: anyway || now.anyway, database)
            try Self.settle(job, now.state, now.hold, database, &consequences)
            // Who waits at a barrier for whom may be another.
            try database.run("INSERT OR IGNORE INTO arrivals (batch) SELECT id FROM batches WHERE finished IS NULL")
            return .done
        }
    }

    private func answering(
        _ done: @escaping @Sendable (NeedsAnswer) -> Void,
        _ change: @escaping @Sendable (Database, OrderTable, inout Consequences) throws -> NeedsAnswer
    ) {
        let (answer, consequences) = (Handed(NeedsAnswer.refused), Handed(Consequences()))
        write(
            wanted: .now,
            { database, orders in
                var now = Consequences()
                answer.value = try change(database, orders, &now)
                consequences.value = now
            },
            done: { [self] in
                tell(consequences.value)
                done(answer.value)
            }, refused: { done(.refused) })
    }

    private static func need(_ job: Int, _ others: [Int], anyway: Bool, _ database: Database) throws {
        // One that is there already may have been met by an end that has been taken back since.
        try database.run(
            """
            INSERT INTO needs (job, after, met) SELECT ?1, id, state = 'done' OR (?3 AND state IN \(final)) FROM jobs
            WHERE id IN (SELECT value FROM json_each(?2)) ON CONFLICT DO UPDATE SET met = excluded.met
            """, [.integer(job), .text(try JSONText.encode(others)), .integer(anyway ? 1 : 0)])
        guard anyway else { return }
        try database.run("UPDATE jobs SET anyway = 1 WHERE id = ?", [.integer(job)])
        try database.run(
            """
            UPDATE needs SET met = 1 WHERE job = ? AND met = 0
                AND NOT EXISTS (SELECT 1 FROM jobs WHERE id = after AND state NOT IN \(final))
            """, [.integer(job)])
    }

    /// The job's state, after its needs have changed. One that has ended is asked again when it is brought back.
    private static func settle(
        _ job: Int, _ state: JobState, _ hold: JobRecord.Hold?, _ database: Database, _ consequences: inout Consequences
    ) throws {
        switch (state, hold) {
        case (.queued, _): consequences = try holdBack(job, database)
        case (.waiting, .after):
            try release("id = ?", [.integer(job)], database, &consequences)
            if consequences.isEmpty { try tellNeeds(of: job, database) }
        case (.waiting, .place):
            // First what it comes after, then the place.
            try database.run(
                """
                UPDATE jobs SET hold = 'after', reason = NULL WHERE id = ?
                    AND EXISTS (SELECT 1 FROM needs n WHERE n.job = jobs.id AND n.met = 0)
                """, [.integer(job)])
            if database.changes > 0 { try tellNeeds(of: job, database) }
        default: break
        }
    }

    /// Why a job can't come after these.
    private static func problem(
        _ job: Int, after others: [Int], anyway: Bool, _ database: Database
    ) throws -> NeedsAnswer? {
        if others.contains(job) { return .circle([job, job]) }
        let ids = Database.Value.text(try JSONText.encode(others))
        let unknown = try database.first(
            "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT id FROM jobs) LIMIT 1", [ids]
        ) { $0.integer(0) }
        if let unknown { return .unknown(unknown) }
        if !anyway {
            let over = try database.first(
                """
                SELECT id, state FROM jobs WHERE id IN (SELECT value FROM json_each(?)) AND state IN ('failed', 'cancelled')
                LIMIT 1
                """, [ids]
            ) { NeedsAnswer.over($0.integer(0), JobState(rawValue: $0.text(1)) ?? .failed) }
            if let over { return over }
        }
        return try circle(job, after: ids, database).map(NeedsAnswer.circle)
    }

    /// The way from a job over those that it is to come after back to itself.
    private static func circle(_ job: Int, after others: Database.Value, _ database: Database) throws -> [Int]? {
        // Nobody comes after most jobs, and after a new one nobody can.
        let followers = "SELECT 1 FROM needs WHERE after = ? AND met = 0 LIMIT 1"
        guard try database.first(followers, [.integer(job)], { _ in true }) != nil else { return nil }
        let reached = try database.first(
            """
            WITH RECURSIVE reached(id) AS (
                SELECT value FROM json_each(?1)
                UNION SELECT n.after FROM reached r JOIN needs n ON n.job = r.id AND n.met = 0
            ) SELECT 1 FROM reached WHERE id = ?2 LIMIT 1
            """, [others, .integer(job)]
        ) { _ in true }
        guard reached != nil else { return nil }
        var before: [Int: Int] = [:]
        try database.rows(
            """
            WITH RECURSIVE reached(id, before) AS (
                SELECT value, ?2 FROM json_each(?1)
                UNION SELECT n.after, r.id FROM reached r JOIN needs n ON n.job = r.id AND n.met = 0 WHERE r.id <> ?2
            ) SELECT id, before FROM reached
            """, [others, .integer(job)]
        ) { row in
            if before[row.integer(0)] == nil { before[row.integer(0)] = row.integer(1) }
        }
        var path = [job]
        var last = job
        while let next = before[last] {
            path.append(next)
            last = next
            if next == job { break }
        }
        return path.reversed()
    }

    // MARK: - Reading

    /// The first of these jobs that would fail at once if it were brought back: with what it comes after, and that one's state unless it is
    /// forgotten. What is brought back with it, by its ID or its state, is no hindrance.
    func hindered(of jobs: [Int], bringingBack states: [JobState]) throws -> (job: Int, after: Int, state: JobState?)? {
        try read { database in
            try database.first(
                """
                SELECT n.job, n.after, a.state FROM needs n LEFT JOIN jobs a ON a.id = n.after
                WHERE n.job IN (SELECT value FROM json_each(?1)) AND n.met = 0
                    AND n.after NOT IN (SELECT value FROM json_each(?1))
                    AND (a.id IS NULL OR a.state IN \(Self.final))
                    AND COALESCE(a.state, '') NOT IN (SELECT value FROM json_each(?2)) LIMIT 1
                """, [.text(try JSONText.encode(jobs)), .text(try JSONText.encode(states))]
            ) { ($0.integer(0), $0.integer(1), $0.optionalText(2).flatMap(JobState.init)) }
        }
    }

    /// The others that a job comes after, or that come after it: the first of them, and how many there are.
    struct Neighbours: Sendable {
        var jobs: [(id: Int, state: JobState?)] = []
        var count = 0
    }

    static let mostNeighbours = 100

    func neighbours(of job: Int) throws -> (after: Neighbours, followers: Neighbours) {
        try read { database in
            (
                try Self.neighbours("after", of: job, by: "job", database),
                try Self.neighbours("job", of: job, by: "after", database)
            )
        }
    }

    private static func neighbours(
        _ other: String, of job: Int, by own: String, _ database: Database
    ) throws -> Neighbours {
        var found = Neighbours()
        found.count =
            try database.first("SELECT COUNT(*) FROM needs WHERE \(own) = ?", [.integer(job)]) { $0.integer(0) } ?? 0
        try database.rows(
            """
            SELECT n.\(other), j.state FROM needs n LEFT JOIN jobs j ON j.id = n.\(other) WHERE n.\(own) = ?
            ORDER BY 1 LIMIT \(mostNeighbours)
            """, [.integer(job)]
        ) { found.jobs.append(($0.integer(0), $0.optionalText(1).flatMap(JobState.init))) }
        return found
    }
}
