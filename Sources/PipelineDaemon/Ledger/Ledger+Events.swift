import DaemonRuntime
import PipelineModel

/// Something that changed, as the event log keeps it.
struct LoggedEvent: Sendable {
    var cursor = 0
    var time = Timestamp.now()
    var kind: String
    var job: Int?
    var state: JobState?
    var queue: String?
    var text: String?
    var batch: Int?

    static func job(_ id: Int, _ state: JobState, _ reason: String?) -> LoggedEvent {
        LoggedEvent(kind: "job", job: id, state: state, text: reason)
    }
}

extension Ledger {
    static func event(_ database: Database, _ event: LoggedEvent) throws {
        try database.run(
            "INSERT INTO events (time, kind, job, state, queue, text, batch) VALUES (?,?,?,?,?,?,?)",
            [
                .real(event.time), .text(event.kind), .optional(event.job), .optional(event.state?.rawValue),
                .optional(event.queue), .optional(event.text), .optional(event.batch),
            ])
    }

    static func dropEvents(upTo cursor: Int, _ database: Database) throws {
        try database.run("DELETE FROM events WHERE cursor <= ?", [.integer(cursor)])
    }

    func append(_ event: LoggedEvent) {
        write({ database, _ in try Self.event(database, event) })
    }

    /// The cursor of the latest event.
    static func lastCursor(_ database: Database) throws -> Int {
        try database.first("SELECT MAX(cursor) FROM events") { $0.integer(0) } ?? 0
    }

    /// Events after `cursor`, each with the job or batch it speaks of, as that is recorded now.
    func events(
        after cursor: Int, limit: Int
    ) throws -> [(event: LoggedEvent, job: JobRecord?, batch: BatchRecord?)] {
        var events: [LoggedEvent] = []
        try read { database in
            try database.rows(
                """
                SELECT cursor, time, kind, job, state, queue, text, batch FROM events WHERE cursor > ?
                ORDER BY cursor LIMIT ?
                """,
                [.integer(cursor), .integer(limit)]
            ) { row in
                events.append(
                    LoggedEvent(
                        cursor: row.integer(0), time: row.real(1), kind: row.text(2), job: row.optionalInteger(3),
                        state: row.optionalText(4).flatMap(JobState.init(rawValue:)), queue: row.optionalText(5),
                        text: row.optionalText(6), batch: row.optionalInteger(7)))
            }
        }
        let found = try jobs(Array(Set(events.compactMap(\.job)))).map { ($0.id, $0) }
        let records = Dictionary(found, uniquingKeysWith: { first, _ in first })
        let batches = try batches(Set(events.compactMap(\.batch)))
        return events.map { ($0, $0.job.flatMap { records[$0] }, $0.batch.flatMap { batches[$0] }) }
    }
}

/// Queues that stay paused over a restart.
extension Ledger {
    func recordPause(_ queue: String, reason: String?, paused: Bool, done: @escaping @Sendable () -> Void) {
        write(
            wanted: .now,
            { database, _ in
                if paused {
                    try database.run(
                        "INSERT OR REPLACE INTO paused (queue, reason) VALUES (?, ?)",
                        [.text(queue), .optional(reason)])
                } else {
                    try database.run("DELETE FROM paused WHERE queue = ?", [.text(queue)])
                }
                try Self.event(
                    database,
                    LoggedEvent(
                        kind: "queue", queue: queue,
                        text: paused ? "paused" + (reason.map { ": \($0)" } ?? "") : "resumed"))
            }, done: done)
    }

    func pausedQueues() throws -> [String: String?] {
        var paused: [String: String?] = [:]
        try read { database in
            try database.rows("SELECT queue, reason FROM paused") { paused[$0.text(0)] = $0.optionalText(1) }
        }
        return paused
    }
}
