import DaemonRuntime
package import JobModel
import PipelineModel

extension JobRecord {
    /// The event for the job's current state. After a failure or an unsuccessful redo, its text is the error, because a
    /// later attempt overwrites the error in the row.
    var event: LoggedEvent { .job(id, state, state == .failed || redoEnd != nil ? error ?? reason : reason) }
}

extension Ledger {
    package nonisolated func append(_ event: LoggedEvent) { write { try $0.add(event) } }

    func add(_ event: LoggedEvent) throws {
        try writer.run(
            "INSERT INTO events (time, kind, job, state, queue, text, batch) VALUES (?,?,?,?,?,?,?)",
            [
                .real(event.time), .text(event.kind), .optional(event.job), .optional(event.state?.rawValue),
                .optional(event.queue), .optional(event.text), .optional(event.batch),
            ])
    }

    /// Adds an event for each row of `jobs` that matches `condition`. `time` is the SQL parameter that contains the
    /// event's time: by default ?1, the first of `values`.
    func add(
        _ state: JobState, text: String = "NULL", time: String = "?1", where condition: String,
        _ values: [Database.Value]
    ) throws {
        try writer.run(
            """
            INSERT INTO events (time, kind, job, state, text) SELECT \(time), 'job', id, '\(state.rawValue)', \(text) FROM jobs
            WHERE \(condition) ORDER BY position
            """, values)
    }

    /// Skips the cursors of events that are not stored, so that a reader at an older cursor notices the gap.
    func skipEvents(_ count: Int) throws {
        try writer.run("UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'events'", [.integer(count)])
    }

    static func lastCursor(_ database: Database) throws -> Int {
        try database.first("SELECT MAX(cursor) FROM events") { $0.integer(0) } ?? 0
    }

    /// Events after `cursor`, each with the current record of its job or batch.
    package nonisolated func events(
        after cursor: Int, limit: Int
    ) throws -> [(event: LoggedEvent, job: JobRecord?, batch: BatchRecord?)] {
        let events = try events("cursor > ? ORDER BY cursor LIMIT ?", [.integer(cursor), .integer(limit)])
        let found = try jobs(Array(Set(events.compactMap(\.job)))).map { ($0.id, $0) }
        let records = Dictionary(found, uniquingKeysWith: { first, _ in first })
        let batches = try batches(Set(events.compactMap(\.batch)))
        return events.map { ($0, $0.job.flatMap { records[$0] }, $0.batch.flatMap { batches[$0] }) }
    }

    /// The latest events of a job, oldest first.
    package nonisolated func events(ofJob id: Int, limit: Int) throws -> [LoggedEvent] {
        try events("job = ? ORDER BY cursor DESC LIMIT ?", [.integer(id), .integer(limit)]).reversed()
    }

    private nonisolated func events(_ choice: String, _ values: [Database.Value]) throws -> [LoggedEvent] {
        try rows(
            "SELECT cursor, time, kind, job, state, queue, text, batch FROM events WHERE \(choice)", values
        ) { row in
            LoggedEvent(
                cursor: row.integer(0), time: row.real(1), kind: row.text(2), job: row.optionalInteger(3),
                state: row.optionalText(4).flatMap(JobState.init(rawValue:)), queue: row.optionalText(5),
                text: row.optionalText(6), batch: row.optionalInteger(7))
        }
    }
}

/// Paused queues, which stay paused across restarts.
extension Ledger {
    package nonisolated func recordPause(
        _ queue: String, reason: String?, paused: Bool, done: @escaping @Sendable () -> Void
    ) {
        write(
            wanted: .now,
            { ledger in
                if paused {
                    try ledger.writer.run(
                        "INSERT OR REPLACE INTO paused (queue, reason) VALUES (?, ?)",
                        [.text(queue), .optional(reason)])
                } else {
                    try ledger.writer.run("DELETE FROM paused WHERE queue = ?", [.text(queue)])
                }
                let text = paused ? "paused" + (reason.map { ": \($0)" } ?? "") : "resumed"
                try ledger.add(LoggedEvent(kind: "queue", queue: queue, text: text))
            }, done: done)
    }

    package nonisolated func pausedQueues() throws -> [String: String?] {
        Dictionary(
            uniqueKeysWithValues: try rows("SELECT queue, reason FROM paused") { ($0.text(0), $0.optionalText(1)) })
    }
}
