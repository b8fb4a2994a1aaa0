package import JobModel
package import PipelineModel
import ServiceProgram
import SystemCalls

extension Ledger {
    /// Adds new jobs, each with its event, and their batches. `listed` yields further records one by one during the
    /// write, because a list may contain a hundred thousand entries.
    package nonisolated func insert(
        _ jobs: [JobRecord], _ listed: (any Sequence<JobRecord> & Sendable)? = nil,
        batches: [BatchRecord] = [], isAsked: Bool = false,
        done: (@Sendable () -> Void)? = nil, refused: (@Sendable () -> Void)? = nil
    ) {
        write(
            wanted: .now, isAsked: isAsked,
            { ledger in
                for batch in batches { try ledger.insert(batch) }
                for job in jobs { try ledger.insert(job) }
                for job in listed ?? [] { try ledger.insert(job) }
            }, done: done, refused: refused)
    }

    func insert(_ job: JobRecord) throws {
        try writer.run(
            """
            INSERT INTO jobs (id, position, batch, work, recipe, path, origin, source, device, inode, size, modified,
                state, reason, created, finished, url, host, priority, hold, anyway, error, advice, disposed, failure,
                texts, owner)
            VALUES (\(job.id), \(job.position), \(job.batch), \(row(of: job.order)), \(job.order.recipe), \(job.path), \(job.origin),
                \(job.source), \(job.file.device), \(job.file.inode), \(job.file.size), \(job.file.modified),
                \(job.state), \(job.reason), \(job.created), \(job.finished), \(job.url), \(job.host), \(job.priority),
                \(job.waitReason), \(job.anyway), \(job.error), \(job.advice), \(job.disposed), \(job.failure),
                \(job.texts.map(JSONText.encode)), \(job.owner))
            """)
        try add(job.event)
    }

    /// Returns the ID of the order's row in `orders`, and adds the row if it is missing. The ledger stores each work
    /// order once, because many jobs share it.
    private func row(of order: WorkOrder) throws -> Int {
        if let row = orderRows[order] { return row }
        let body = try JSONText.encode(order)
        try writer.run("INSERT INTO orders (body) VALUES (\(body)) ON CONFLICT DO NOTHING")
        guard let row: Int = try writer.value("SELECT id FROM orders WHERE body = \(body)") else {
            throw LedgerError(attempted: "INSERT INTO orders", message: "the row is not there")
        }
        orderRows[order] = row
        return row
    }

    /// Records a job's new state and its event. If the job has ended, the same transaction updates its dependents.
    package nonisolated func record(_ job: JobRecord, done: (@Sendable () -> Void)? = nil) {
        write(
            wanted: .soon,
            { ledger in
                guard ![.running, .cancelling].contains(job.state) else { return try ledger.recordWork(job) }
                try ledger.writer.run(
                    """
                    UPDATE jobs SET state = \(job.state), reason = \(job.reason), error = \(job.error),
                        advice = \(job.advice), intent = \(job.intent.map(JSONText.encode)),
                        outputs = \(job.outputs.isEmpty ? nil : JSONText.encode(job.outputs)),
                        story = \(job.story.map(JSONText.encode)), tries = \(job.tries), started = \(job.started),
                        finished = \(job.finished), hold = \(job.waitReason), due = \(job.due),
                        setbacks = \(job.setbacks), segment = \(job.segment),
                        staged = \(job.staged.isEmpty ? nil : JSONText.encode(job.staged)), crashes = \(job.crashes),
                        failure = \(job.failure), partial = \(job.partial.map(JSONText.encode)),
                        former = \(job.former.map { try ledger.row(of: $0) })
                    WHERE id = \(job.id)
                    """)
                if job.redoEnd != nil { try ledger.recordOrder(of: job) }
                try ledger.add(job.event)
                if job.state == .done, job.redoEnd == nil {
                    try ledger.keepResults(of: job)
                    try ledger.add(LoggedEvent(kind: "published", job: job.id, state: .done))
                }
                if job.state.isFinal { try ledger.follow(job.id) }
            }, done: done)
    }

    /// Records the changes of a running job in a few columns. The ledger writes the other columns when the job no
    /// longer runs, so that SQLite updates their indexes only once.
    private func recordWork(_ job: JobRecord) throws {
        try writer.run(
            """
            UPDATE jobs SET state = \(job.state), reason = \(job.reason), story = \(job.story.map(JSONText.encode)),
                started = \(job.started), partial = \(job.partial.map(JSONText.encode))
            WHERE id = \(job.id)
            """)
        try add(job.event)
    }

    /// Records the intent to publish. Once the intent is durable, a restart after a crash completes the publication.
    package nonisolated func record(
        intent: PublishIntent, of job: Int, done: @escaping @Sendable () -> Void,
        refused: @escaping @Sendable () -> Void
    ) {
        write(
            wanted: .soon,
            { ledger in
                try ledger.writer.run(
                    "UPDATE jobs SET intent = \(JSONText.encode(intent)) WHERE id = \(job)")
            }, done: done, refused: refused)
    }

    /// Records that originals have reached their final places, so that their jobs are over. The same transaction
    /// appends an event for each job: `picture` if the job has succeeded and has new results, and otherwise `over` if
    /// the job has an original. `kept` contains the originals that [Keep] may remove later, keyed by job ID.
    package nonisolated func recordDisposal(
        of jobs: [(id: Int, source: String)], keeping kept: [Int: KeptMarks] = [:],
        done: @escaping @Sendable () -> Void
    ) {
        write(
            wanted: .soon,
            { ledger in
                for (id, source) in jobs {
                    let ended = try ledger.writer.first(
                        """
                        UPDATE jobs SET disposed = 1, source = \(source), intent = NULL
                        WHERE id = \(id) AND disposed = 0 AND returns IS NULL AND state IN \(Self.final)
                        RETURNING state, inode <> 0 AS hasOriginal, CASE WHEN state <> 'done' OR error IS NULL THEN state
                            WHEN failure IS NULL THEN 'cancelled' ELSE 'failed' END AS outcome
                        """
                    ) { row -> (state: JobState, hasOriginal: Bool, end: JobState) in
                        try (row["state"], row["hasOriginal"], row["outcome"])
                    }
                    if let state = ended?.state, let kept = kept[id] {
                        try ledger.keep(kept, of: id, in: KeptPlace(ofOriginals: state))
                    }
                    if let end = ended?.end, end == .done || ended?.hasOriginal == true {
                        let kind = end == .done ? "picture" : "over"
                        try ledger.add(LoggedEvent(kind: kind, job: id, state: end))
                    }
                }
            }, done: done)
    }

    /// Records the new path of an original that still has to be processed or moved.
    package nonisolated func record(source: String, of job: Int) {
        write { try $0.writer.run("UPDATE jobs SET source = \(source) WHERE id = \(job)") }
    }

    /// The numbers of cancelled jobs, by their state before the cancellation.
    package struct Cancelled: Sendable {
        package var (queued, waiting) = (0, 0)
        /// The numbers of cancelled redos, by the state of their jobs before the cancellation. The jobs return to
        /// `done`.
        package var (queuedAgain, waitingAgain) = (0, 0)

        package var all: Int { queued + waiting + queuedAgain + waitingAgain }
    }

    /// Cancels every queued or waiting job with an ID up to `last` that matches `choice`, except the jobs in `except`.
    /// Fails the dependents of the cancelled jobs. Passes the numbers of cancelled jobs to `done`.
    package nonisolated func cancelQueued(
        upTo last: Int, _ choice: JobChoice, except: [Int], at time: Double,
        done: @escaping @Sendable (Cancelled) -> Void
    ) {
        write(isAsked: true, refused: Cancelled()) { ledger in
            let chosen: SQL =
                "state IN ('queued', 'waiting') AND id <= \(last) AND id NOT IN \(except) AND \(choice.condition)"
            let again = try ledger.cancelRedos(where: chosen, at: time)
            try ledger.end(chosen)
            let waiting: Int =
                try ledger.writer.value(
                    "SELECT COUNT(*) FROM jobs WHERE state = 'waiting' AND id IN (SELECT id FROM ended)") ?? 0
            let all: Int = try ledger.writer.value("SELECT COUNT(*) FROM ended") ?? 0
            var count = 0
            try ledger.forEachEnded { which in
                // The event log keeps only the latest events. If more jobs are cancelled than the log keeps events, the
                // log would delete the events of the jobs with the lowest IDs as soon as they were written. So the
                // ledger does not write those events.
                let areKept = all - count <= ledger.keptEvents + Ledger.changedAtOnce
                if areKept { try ledger.add(.cancelled, text: "\(choice.cause)", at: time, where: which) }
                // A download that has not started has left no file, so its job needs no disposal. An interrupted
                // download has left a file, which the disposal removes.
                try ledger.writer.run(
                    """
                    UPDATE jobs SET state = 'cancelled', hold = NULL, due = NULL, reason = NULL, error = NULL, failure = NULL,
                        finished = \(time), disposed = disposed OR (\(FirstQueue.download.condition) AND partial IS NULL)
                    WHERE \(which)
                    """)
                count += ledger.writer.changes
                if !areKept { try ledger.skipEvents(ledger.writer.changes) }
            }
            try ledger.followEnded()
            return Cancelled(
                queued: count - waiting, waiting: waiting, queuedAgain: again.queued, waitingAgain: again.waiting)
        } done: {
            done($0)
        }
    }

    /// Sets the priority of the chosen jobs that are queued or waiting. Logs an event for each job whose priority
    /// changes. Passes the number of chosen jobs to `done`, including jobs that already had the priority.
    package nonisolated func prioritise(
        _ choice: JobChoice, _ priority: Priority, done: @escaping @Sendable (Int) -> Void
    ) {
        write(
            isAsked: true, refused: 0,
            { ledger in
                let rank = priority.rank
                let chosen: SQL = "state IN ('queued', 'waiting') AND \(choice.condition)"
                try ledger.writer.run(
                    """
                    INSERT INTO events (kind, job, state, time, text)
                        SELECT 'priority', id, state, \(Timestamp.now()), \(priority.rawValue) FROM jobs
                        WHERE priority <> \(rank) AND \(chosen) ORDER BY position
                    """)
                try ledger.writer.run("UPDATE jobs SET priority = \(rank) WHERE \(chosen)")
                return ledger.writer.changes
            }, done: done)
    }

    /// Queues ended jobs again. Takes each job's position and the path of its original (`source`) from the record. A
    /// job with unmet dependencies waits for them.
    package nonisolated func requeue(_ jobs: [JobRecord], done: @escaping @Sendable () -> Void) {
        write(
            wanted: .now,
            { ledger in
                for job in jobs { try ledger.requeue(job) }
                let ids = jobs.map(\.id)
                try ledger.add(.queued, where: "id IN \(ids)")
                for id in try ledger.jobsWithNeeds(among: ids) { try ledger.waitForNeeds(id) }
            }, done: done)
    }

    private func requeue(_ job: JobRecord) throws {
        // In a redo, the job keeps its results, and its story continues.
        let begun: SQL = job.former == nil ? "outputs = NULL, story = NULL, tries = 0," : ""
        try writer.run(
            """
            UPDATE jobs SET state = 'queued', position = \(job.position), source = \(job.source),
                device = \(job.file.device), inode = \(job.file.inode), size = \(job.file.size),
                modified = \(job.file.modified), priority = \(job.priority),
                former = \(job.former.map { try row(of: $0) }), \(begun) reason = NULL, error = NULL, advice = NULL, intent = NULL,
                disposed = 0, started = NULL, finished = NULL, hold = NULL, due = NULL, setbacks = 0, goal = NULL,
                segment = 0, staged = NULL, crashes = 0, failure = NULL, partial = NULL, returns = NULL
            WHERE id = \(job.id)
            """)
        try recordOrder(of: job)
    }

    /// Records the job's work order. Usually the order is unchanged; the condition on `work` then avoids an update of
    /// the index.
    private func recordOrder(of job: JobRecord) throws {
        let order = try row(of: job.order)
        try writer.run("UPDATE jobs SET work = \(order) WHERE id = \(job.id) AND work <> \(order)")
    }
}
