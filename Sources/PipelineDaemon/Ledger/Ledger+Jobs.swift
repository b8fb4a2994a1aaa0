import InboxWatching
import PipelineModel
import SystemCalls
import WorkerProtocol

/// Jobs, written.
extension Ledger {
    /// New jobs, each with its event, and the batch that they are.
    func insert(
        _ jobs: [JobRecord], _ listed: ListedJobs? = nil, batch: BatchRecord? = nil,
        done: (@Sendable () -> Void)? = nil,
        refused: (@Sendable () -> Void)? = nil
    ) {
        write(
            wanted: .now,
            { database, orders in
                if let batch { try Self.insert(batch, database) }
                for job in jobs { try Self.insertNew(job, database, orders) }
                guard let listed else { return }
                for index in 0..<listed.count { try Self.insertNew(listed.record(index), database, orders) }
            }, done: done, refused: refused)
    }

    private static func insertNew(_ job: JobRecord, _ database: Database, _ orders: OrderTable) throws {
        try insert(job, database, orders)
        try event(database, .job(job.id, job.state, job.reason))
    }

    static func insert(_ job: JobRecord, _ database: Database, _ orders: OrderTable) throws {
        try database.run(
            """
            INSERT INTO jobs (id, position, batch, work, path, origin, source, device, inode, size, modified,
                state, reason, created, finished, url, host, priority, hold, anyway, error, advice, disposed, failure)
            VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
            """,
            [
                .integer(job.id), .integer(job.position), .optional(job.batch),
                .integer(try orders.row(job.order, database)), .text(job.path), .text(job.origin.rawValue),
                .text(job.source), .integer(job.file.device), .integer(job.file.inode), .integer(job.file.size),
                .integer(job.file.modified), .text(job.state.rawValue), .optional(job.reason), .real(job.created),
                .optional(job.finished), .optional(job.url), .optional(job.host), .integer(job.priority),
                .optional(job.hold?.rawValue), .integer(job.anyway ? 1 : 0), .optional(job.error),
                .optional(job.advice), .integer(job.disposed ? 1 : 0), .optional(job.failure?.rawValue),
            ])
    }

    /// A job's new state, with what goes with it, and its event. What comes after a job that has ended follows in the same transaction.
    func record(_ job: JobRecord, done: (@Sendable () -> Void)? = nil) {
        let consequences = Handed(Consequences())
        write(
            wanted: .soon,
            { database, _ in
                try database.run(
                    """
                    UPDATE jobs SET state = ?, reason = ?, error = ?, advice = ?, intent = ?, outputs = ?, story = ?,
                        tries = ?, started = ?, finished = ?, hold = ?, due = ?, setbacks = ?, segment = ?, staged = ?,
                        crashes = ?, failure = ?, partial = ?
                    WHERE id = ?
                    """,
                    [
                        .text(job.state.rawValue), .optional(job.reason), .optional(job.error), .optional(job.advice),
                        .optional(try job.intent.map(JSONText.encode)),
                        .optional(job.outputs.isEmpty ? nil : try JSONText.encode(job.outputs)),
                        .optional(try job.story.map(JSONText.encode)), .integer(job.tries),
                        .optional(job.started), .optional(job.finished), .optional(job.hold?.rawValue),
                        .optional(job.due), .integer(job.setbacks), .integer(job.segment),
                        .optional(job.staged.isEmpty ? nil : try JSONText.encode(job.staged)),
                        .integer(job.crashes), .optional(job.failure?.rawValue),
                        .optional(try job.partial.map(JSONText.encode)), .integer(job.id),
                    ])
                try Self.event(database, .job(job.id, job.state, job.reason))
                consequences.value = job.state.isFinal ? try Self.follow(job.id, database) : Consequences()
            },
            done: { [self] in
                tell(consequences.value)
                done?()
            })
    }

    /// The intent to publish: from here on the job ends `done`.
    func record(
        intent: PublishIntent, of job: Int, done: @escaping @Sendable () -> Void,
        refused: @escaping @Sendable () -> Void
    ) {
        write(
            wanted: .soon,
            { database, _ in
                try database.run(
                    "UPDATE jobs SET intent = ? WHERE id = ?", [.text(try JSONText.encode(intent)), .integer(job)])
            }, done: done, refused: refused)
    }

    /// Records that the originals lie where they belong: these jobs are over. The same transaction appends the event
    /// `picture` for each that is done.
    func recordDisposal(of jobs: [(id: Int, source: String)], done: @escaping @Sendable () -> Void) {
        write(
            wanted: .soon,
            { database, _ in
                for (id, source) in jobs {
                    let state = try database.first(
                        """
                        UPDATE jobs SET disposed = 1, source = ?, intent = NULL WHERE id = ? AND disposed = 0 AND returns IS NULL
                            AND state IN ('done', 'failed', 'cancelled') RETURNING state
                        """, [.text(source), .integer(id)]
                    ) { $0.text(0) }
                    if state == JobState.done.rawValue {
                        try Self.event(database, LoggedEvent(kind: "picture", job: id, state: .done))
                    }
                }
            }, done: done)
    }

    /// Records the new name of an original that is still to be worked on.
    func record(source: String, of job: Int) {
        write { database, _ in
            try database.run("UPDATE jobs SET source = ? WHERE id = ?", [.text(source), .integer(job)])
        }
    }

    /// Whether any original of an ended job is still to be moved, or is being brought back.
    func movesOriginals() throws -> Bool {
        try read { database in
            try database.first(
                """
                SELECT EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_undisposed
                        WHERE disposed = 0 AND state IN ('done', 'failed', 'cancelled'))
                    OR EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_returning WHERE returns IS NOT NULL)
                """
            ) { $0.integer(0) != 0 }
        } ?? false
    }

    /// Cancels every job up to `last` that is queued or waits, of those that `choice` speaks of, but for `except`; hands over how many there
    /// were. What comes after them, and is not among them, fails.
    func cancelQueued(
        upTo last: Int, _ choice: JobChoice, except: [Int], at time: Double,
        done: @escaping @Sendable (_ queued: Int, _ waiting: Int) -> Void
    ) {
        let queued = Handed(0)
        let waiting = Handed(0)
        let consequences = Handed(Consequences())
        write(
            wanted: .now,
            { database, _ in
                // Lists travel as JSON, so that the statement is the same for any number of IDs.
                try Self.end(
                    """
                    state IN ('queued', 'waiting') AND id <= ?1 AND id NOT IN (SELECT value FROM json_each(?2))
                        AND \(JobChoice.condition(from: 3))
                    """, [.integer(last), .text(try JSONText.encode(except))] + choice.values, database)
                waiting.value =
                    try database.first(
                        "SELECT COUNT(*) FROM jobs WHERE state = 'waiting' AND id IN (SELECT id FROM ended)"
                    ) { $0.integer(0) } ?? 0
                try database.run(
                    """
                    INSERT INTO events (time, kind, job, state) SELECT ?, 'job', id, 'cancelled' FROM jobs
                    WHERE id IN (SELECT id FROM ended) ORDER BY position
                    """, [.real(time)])
                // Of what has not been downloaded there is nothing to be moved, or removed unless some of it has come.
                try database.run(
                    """
                    UPDATE jobs SET state = 'cancelled', hold = NULL, due = NULL, reason = NULL, error = NULL, failure = NULL,
                        finished = ?, disposed = disposed OR (url IS NOT NULL AND inode = 0 AND partial IS NULL)
                    WHERE id IN (SELECT id FROM ended)
                    """, [.real(time)])
                queued.value = database.changes - waiting.value
                consequences.value = try Self.followEnded(database)
            },
            done: { [self] in
                tell(consequences.value)
                done(queued.value, waiting.value)
            })
    }

    /// Puts a job that had ended, and whose original is at `source` again, back at the end of the queue; or lets it wait for those that it
    /// still comes after.
    func requeue(_ job: JobRecord, done: @escaping @Sendable () -> Void) {
        let consequences = Handed(Consequences())
        write(
            wanted: .now,
            { database, orders in
                try database.run(
                    """
                    UPDATE jobs SET state = 'queued', position = ?, work = ?, source = ?, device = ?,
                        inode = ?, size = ?, modified = ?, priority = ?, reason = NULL, error = NULL,
                        advice = NULL, intent = NULL, outputs = NULL, story = NULL, disposed = 0,
                        started = NULL, finished = NULL, tries = 0, hold = NULL, due = NULL, setbacks = 0,
                        segment = 0, staged = NULL, crashes = 0, failure = NULL, partial = NULL, returns = NULL
                    WHERE id = ?
                    """,
                    [
                        .integer(job.position), .integer(try orders.row(job.order, database)), .text(job.source),
                        .integer(job.file.device), .integer(job.file.inode), .integer(job.file.size),
                        .integer(job.file.modified), .integer(job.priority), .integer(job.id),
                    ])
                try Self.event(database, .job(job.id, .queued, nil))
                consequences.value = try Self.holdBack(job.id, database)
            },
            done: { [self] in
                tell(consequences.value)
                done()
            })
    }
}

/// Jobs, read.
extension Ledger {
    static let columns = """
        j.id, j.position, j.batch, o.body, j.path, j.origin, j.source, j.device, j.inode, j.size, j.modified, j.state,
        CASE j.hold WHEN 'after' THEN \(needsText) ELSE j.reason END, j.error, j.advice, j.intent, j.outputs, j.story, j.tries, j.disposed, j.created, j.started,
        j.finished, j.url, j.priority, j.hold, j.due, j.setbacks, j.segment, j.staged, j.anyway,
        j.crashes, j.failure, j.partial, j.host, j.returns
        """

    static func job(_ row: Database.Row, _ cache: inout OrderCache) throws -> JobRecord {
        JobRecord(
            id: row.integer(0), position: row.integer(1), batch: row.optionalInteger(2),
            order: try cache.order(row.text(3)), path: row.text(4),
            origin: JobRecord.Origin(rawValue: row.text(5)) ?? .claimed, source: row.text(6),
            file: FileStatus.Identity(
                device: row.integer(7), inode: row.integer(8), size: row.integer(9), modified: row.integer(10)),
            state: JobState(rawValue: row.text(11)) ?? .failed, reason: row.optionalText(12),
            error: row.optionalText(13), advice: row.optionalText(14),
            intent: try row.optionalText(15).map { try JSONText.decode(PublishIntent.self, $0) },
            outputs: try row.optionalText(16).map { try JSONText.decode([String].self, $0) } ?? [],
            story: try row.optionalText(17).map { try JSONText.decode(JobStory.self, $0) },
            tries: row.integer(18), disposed: row.integer(19) != 0, created: row.real(20),
            started: row.optionalReal(21), finished: row.optionalReal(22), url: row.optionalText(23),
            host: row.optionalText(34),
            partial: try row.optionalText(33).map { try JSONText.decode(FetchResume.self, $0) },
            priority: row.integer(24), hold: row.optionalText(25).flatMap(JobRecord.Hold.init),
            due: row.optionalReal(26), setbacks: row.integer(27), crashes: row.integer(31),
            failure: row.optionalText(32).flatMap(FailureClass.init), segment: row.integer(28),
            staged: try row.optionalText(29).map { try JSONText.decode([JobRecord.Staged].self, $0) } ?? [],
            anyway: row.integer(30) != 0, returns: row.optionalText(35))
    }

    /// By this index, where there is one for it: without statistics SQLite would take another, and look at far more rows.
    func jobs(
        by index: String? = nil, _ rest: String, _ values: [Database.Value] = []
    ) throws -> [JobRecord] {
        let indexed = index.map { "INDEXED BY \($0)" } ?? ""
        var jobs: [JobRecord] = []
        var cache = OrderCache()
        try read { database in
            try database.rows(
                "SELECT \(Self.columns) FROM jobs j \(indexed) JOIN orders o ON o.id = j.work \(rest)", values
            ) {
                jobs.append(try Self.job($0, &cache))
            }
        }
        return jobs
    }

    func job(_ id: Int) throws -> JobRecord? {
        try jobs("WHERE j.id = ?", [.integer(id)]).first
    }

    /// Those of the IDs that there are.
    func jobs(_ ids: [Int]) throws -> [JobRecord] {
        try jobs("WHERE j.id IN (SELECT value FROM json_each(?)) ORDER BY j.id", [.text(try JSONText.encode(ids))])
    }

    /// One of the IDs that no job has.
    func unknown(of ids: [Int]) throws -> Int? {
        try read { database in
            try database.first(
                "SELECT value FROM json_each(?) WHERE value NOT IN (SELECT id FROM jobs) LIMIT 1",
                [.text(try JSONText.encode(ids))]
            ) { $0.integer(0) }
        }
    }

    /// The first queued jobs that begin in this queue, of at least this priority, but for `except`.
    func queued(
        _ entry: Entry = .render, atLeast priority: Priority = .low, except: [Int] = [], limit: Int
    ) throws -> [JobRecord] {
        try jobs(
            by: entry.index,
            """
            WHERE j.state = 'queued' AND \(entry.condition) AND j.priority >= ? AND j.id NOT IN (SELECT value FROM json_each(?))
            ORDER BY j.priority DESC, j.position LIMIT ?
            """,
            [.integer(priority.rank), .text(Self.list(except)), .integer(limit)])
    }

    /// IDs as JSON; faster than `JSONEncoder`.
    static func list(_ ids: [Int]) -> String { "[\(ids.map(String.init).joined(separator: ","))]" }

    /// Jobs that a crash or a stop has left in the middle. What waits for other jobs, or its next try, still does.
    func interrupted() throws -> [JobRecord] {
        try jobs(
            """
            WHERE j.state IN ('running', 'cancelling') OR (j.state = 'waiting' AND COALESCE(j.hold, 'place') = 'place')
            ORDER BY j.position
            """)
    }

    /// The outboxes of all jobs that have not ended.
    func unfinishedOutboxes() throws -> Set<String> {
        var outboxes: Set<String> = []
        try read { database in
            try database.rows(
                """
                SELECT DISTINCT json_extract(body, '$.outbox') FROM orders WHERE id IN
                    (SELECT work FROM jobs WHERE state IN ('waiting', 'queued', 'running', 'cancelling'))
                """
            ) { outboxes.insert($0.text(0)) }
        }
        return outboxes
    }

    /// Staging files that are still needed: made before a barrier, or to be published or taken back.
    func stagedPaths() throws -> Set<String> {
        var paths: Set<String> = []
        try read { database in
            try database.rows(
                """
                SELECT json_extract(value, '$.path') FROM jobs, json_each(staged)
                WHERE staged IS NOT NULL AND state IN ('waiting', 'queued', 'running', 'cancelling')
                UNION ALL
                SELECT json_extract(value, '$.staging') FROM jobs, json_each(intent, '$.steps')
                WHERE intent IS NOT NULL AND disposed = 0
                """
            ) { paths.insert($0.text(0)) }
        }
        return paths
    }

    /// Ended jobs of an inbox, after `id`, whose original has still to be moved.
    func undisposed(of inbox: String, after id: Int, limit: Int) throws -> [JobRecord] {
        try jobs(
            by: "jobs_undisposed",
            """
            WHERE j.disposed = 0 AND j.state IN ('done', 'failed', 'cancelled') AND j.returns IS NULL AND j.id > ?
                AND json_extract(o.body, '$.inbox') = ? ORDER BY j.id LIMIT ?
            """,
            [.integer(id), .text(inbox), .integer(limit)])
    }

    /// Those of the IDs that have ended, and whose original has still to be moved, with the time at which they ended.
    func undisposed(_ ids: [Int]) throws -> [Int: Double] {
        var left: [Int: Double] = [:]
        try read { database in
            try database.rows(
                """
                SELECT id, finished FROM jobs WHERE id IN (SELECT value FROM json_each(?))
                    AND disposed = 0 AND returns IS NULL AND state IN ('done', 'failed', 'cancelled')
                """, [.text(try JSONText.encode(ids))]
            ) { left[$0.integer(0)] = $0.real(1) }
        }
        return left
    }

    /// Where those came from.
    func undisposedInboxes() throws -> [String] {
        var inboxes: [String] = []
        try read { database in
            try database.rows(
                """
                SELECT DISTINCT json_extract(body, '$.inbox') FROM orders WHERE id IN
                    (SELECT work FROM jobs INDEXED BY jobs_undisposed
                        WHERE disposed = 0 AND state IN ('done', 'failed', 'cancelled'))
                """
            ) { inboxes.append($0.text(0)) }
        }
        return inboxes
    }

    /// The highest ID, position and batch in use.
    func highest() throws -> (id: Int, position: Int, batch: Int) {
        try read { database in
            try database.first("SELECT MAX(id), MAX(position), (SELECT MAX(id) FROM batches) FROM jobs") {
                ($0.integer(0), $0.integer(1), $0.integer(2))
            }
        } ?? (0, 0, 0)
    }

    /// The files that have been taken and left in their place.
    func kept(in inbox: String) throws -> KeptFiles {
        var kept = KeptFiles()
        try read { database in
            try database.rows(
                "SELECT source, inode, size, modified FROM jobs WHERE origin = 'kept' AND source GLOB ?",
                [.text(Self.pattern(below: inbox))]
            ) {
                kept.insert(
                    $0.text(0),
                    FileStatus.Identity(
                        device: 0, inode: $0.integer(1), size: $0.integer(2), modified: $0.integer(3)))
            }
        }
        return kept
    }

    /// The inboxes of all jobs.
    func inboxes() throws -> [String] {
        var inboxes: [String] = []
        try read { database in
            try database.rows("SELECT DISTINCT json_extract(body, '$.inbox') FROM orders") {
                inboxes.append($0.text(0))
            }
        }
        return inboxes
    }

    /// The job whose original lies at `source` and is still to be worked on or moved.
    func job(claimedAt source: String) throws -> JobRecord? {
        try jobs("WHERE j.source = ? AND j.disposed = 0 ORDER BY j.id DESC LIMIT 1", [.text(source)]).first
    }

    /// Jobs with an original in the spool.
    func spooled() throws -> [JobRecord] {
        try jobs("WHERE j.origin = 'spooled' AND j.disposed = 0 AND j.inode != 0 ORDER BY j.id")
    }

    /// The GLOB pattern for paths below a folder.
    private static func pattern(below folder: String) -> String {
        folder.map { "*?[".contains($0) ? "[\($0)]" : String($0) }.joined() + "/*"
    }

    /// Whether anything claimed in an inbox is still to be worked on or moved.
    func needsClaims(in inbox: String) throws -> Bool {
        try read { database in
            try database.first(
                "SELECT 1 FROM jobs WHERE disposed = 0 AND origin = 'claimed' AND source GLOB ? LIMIT 1",
                [.text(Self.pattern(below: FileSystem.join(inbox, ClaimFolder.name)))]
            ) { _ in true }
        } ?? false
    }

    /// Whether an original at `source` is still to be worked on or moved, or is being brought back there.
    func knows(source: String) throws -> Bool {
        try read { database in
            try database.first(
                """
                SELECT 1 FROM jobs WHERE source = ?1 AND disposed = 0
                UNION ALL SELECT 1 FROM jobs WHERE returns = ?1 AND returns IS NOT NULL LIMIT 1
                """, [.text(source)]
            ) { _ in true }
        } ?? false
    }
}

/// Which jobs a change speaks of: all that fit what is given.
struct JobChoice: Sendable {
    var ids: [Int]?
    var batch: Int?
    var recipe: String?
    var states: [JobState]?
    /// Beside those of the states, what is queued and held up here.
    var held: [Entry] = []

    /// With parameters from this number on.
    static func condition(from first: Int) -> String {
        let (ids, batch, recipe, states) = ("?\(first)", "?\(first + 1)", "?\(first + 2)", "?\(first + 3)")
        let held = "?\(first + 4)"
        return """
            (\(ids) IS NULL OR id IN (SELECT value FROM json_each(\(ids)))) AND (\(batch) IS NULL OR batch = \(batch))
                AND (\(recipe) IS NULL OR work IN (SELECT id FROM orders WHERE json_extract(body, '$.recipe') = \(recipe)))
                AND (\(states) IS NULL OR state IN (SELECT value FROM json_each(\(states))) OR (state = 'queued' AND
                    CASE WHEN url IS NOT NULL AND inode = 0 THEN 'download' ELSE 'render' END IN
                        (SELECT value FROM json_each(\(held)))))
            """
    }

    var values: [Database.Value] {
        get throws {
            [
                .optional(try ids.map(JSONText.encode)), .optional(batch), .optional(recipe),
                .optional(try states.map(JSONText.encode)), .text(try JSONText.encode(held.map(\.rawValue))),
            ]
        }
    }

    func speaks(of job: JobRecord) -> Bool {
        (ids?.contains(job.id) ?? true) && (batch.map { $0 == job.batch } ?? true)
            && (recipe.map { $0 == job.order.recipe } ?? true) && isOfState(job)
    }

    private func isOfState(_ job: JobRecord) -> Bool {
        guard let states else { return true }
        return states.contains(job.state) || (job.state == .queued && held.contains(job.entry))
    }
}

/// Decodes each distinct order once.
struct OrderCache {
    private var orders: [String: WorkOrder] = [:]

    mutating func order(_ body: String) throws -> WorkOrder {
        if let order = orders[body] { return order }
        let order = try JSONText.decode(WorkOrder.self, body)
        orders[body] = order
        return order
    }
}
