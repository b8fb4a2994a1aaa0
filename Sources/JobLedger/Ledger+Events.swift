package import JobModel
import PipelineModel
import ServiceProgram

extension JobRecord {
    /// The event for the job's current state. After a failure or an unsuccessful redo, the event's text is the error,
    /// because a later attempt overwrites the error in the row.
    var event: LoggedEvent {
        if state == .failed || redoEnd != nil { return .job(id, state, error ?? reason) }
        return .job(id, state, reason ?? (state == .queued || state == .cancelled ? cause : nil))
    }
}

extension Ledger {
    package nonisolated func append(_ event: LoggedEvent) { write { try $0.add(event) } }

    func add(_ event: LoggedEvent) throws {
        try writer.run(
            """
            INSERT INTO events (time, kind, job, state, queue, text, batch) VALUES (\(event.time), \(event.kind),
                \(event.job), \(event.state), \(event.queue), \(event.text), \(event.batch))
            """)
    }

    /// Adds an event for each row of `jobs` that matches `condition`.
    func add(
        _ state: JobState, text: SQL = "NULL", at time: Double = Timestamp.now(), where condition: SQL
    ) throws {
        try writer.run(
            """
            INSERT INTO events (time, kind, job, state, text) SELECT \(time), 'job', id, \(state), \(text) FROM jobs
            WHERE \(condition) ORDER BY position
            """)
    }

    /// Skips the cursors of events that the ledger does not store, so that a reader at an older cursor notices the gap.
    func skipEvents(_ count: Int) throws {
        try writer.run("UPDATE sqlite_sequence SET seq = seq + \(count) WHERE name = 'events'")
    }

    static func lastCursor(_ database: Database) throws -> Int {
        try database.value("SELECT MAX(cursor) FROM events") ?? 0
    }

    /// Returns the events after `cursor`, each with the current record of its job or batch.
    package nonisolated func events(
        after cursor: Int, limit: Int
    ) throws -> [(event: LoggedEvent, job: JobRecord?, batch: BatchRecord?)] {
        let events = try events("cursor > \(cursor) ORDER BY cursor LIMIT \(limit)")
        let found = try jobs(Array(Set(events.compactMap(\.job)))).map { ($0.id, $0) }
        let records = Dictionary(found, uniquingKeysWith: { first, _ in first })
        let batches = try batches(Set(events.compactMap(\.batch)))
        return events.map { ($0, $0.job.flatMap { records[$0] }, $0.batch.flatMap { batches[$0] }) }
    }

    /// Returns the latest events of a job, oldest first.
    package nonisolated func events(ofJob id: Int, limit: Int) throws -> [LoggedEvent] {
        try events("job = \(id) ORDER BY cursor DESC LIMIT \(limit)").reversed()
    }

    private nonisolated func events(_ choice: SQL) throws -> [LoggedEvent] {
        try rows("SELECT cursor, time, kind, job, state, queue, text, batch FROM events WHERE \(choice)") { row in
            try LoggedEvent(
                cursor: row["cursor"], time: row["time"], kind: row["kind"], job: row["job"], state: row["state"],
                queue: row["queue"], text: row["text"], batch: row["batch"])
        }
    }
}

/// Records the paused queues, so that they stay paused after a restart.
extension Ledger {
    package nonisolated func recordPause(
        _ queue: String, reason: String?, paused: Bool, done: @escaping @Sendable () -> Void
    ) {
        write(
            wanted: .now,
            { ledger in
                if paused {
                    try ledger.writer.run(
                        "INSERT OR REPLACE INTO paused (queue, reason) VALUES (\(queue), \(reason))")
                } else {
                    try ledger.writer.run("DELETE FROM paused WHERE queue = \(queue)")
                }
                let text = paused ? "paused" + (reason.map { ": \($0)" } ?? "") : "resumed"
                try ledger.add(LoggedEvent(kind: "queue", queue: queue, text: text))
            }, done: done)
    }

    package nonisolated func pausedQueues() throws -> [String: String?] {
        let paused = try rows("SELECT queue, reason FROM paused") { row -> (String, String?) in
            try (row["queue"], row["reason"])
        }
        return Dictionary(uniqueKeysWithValues: paused)
    }
}
