import DaemonRuntime
import PipelineModel

/// A batch as the ledger keeps it, and how far its jobs have come.
struct BatchRecord: Sendable {
    var id: Int
    /// The list that it came from.
    var name: String?
    var isOpen: Bool
    /// All of it has ended, and that is announced.
    var hasEnded = false
    var jobs: [JobState: Int] = [:]
    /// Unfinished jobs, by barriers passed.
    var reached: [Int: Int] = [:]

    /// Those that wait, and have passed none: for something else than the others of the batch.
    var held = 0

    private func count(_ isCounted: (JobState) -> Bool) -> Int {
        jobs.reduce(0) { isCounted($1.key) ? $0 + $1.value : $0 }
    }

    var ended: Int { count(\.isFinal) }
    var unended: Int { count { !$0.isFinal } }
}

/// What has become of a batch as a whole.
enum BatchNews: String, Sendable {
    /// Every job of it has arrived at a barrier, or ended.
    case arrived
    /// Whoever was still to come has arrived at a barrier that the others have passed.
    case joined
    /// Every job of the batch is over.
    case ended
}

/// Batches: jobs that are watched, waited for and cancelled as one.
///
/// Whichever statement changes a job of a batch, a trigger notes the batch in `arrivals`. Before each commit those are looked at, so
/// that nobody has to count, and nothing is missed by a crash.
extension Ledger {
    /// Of a batch: a job that has neither ended nor arrived at a barrier. One that comes after another of the batch is not waited for at
    /// a barrier: that other one might wait there for it.
    private static let onWay = """
        (EXISTS (SELECT 1 FROM jobs WHERE jobs.batch = batches.id AND state IN ('waiting', 'queued', 'running', 'cancelling')
            AND hold IS NOT 'barrier' AND hold IS NOT 'after')
        OR EXISTS (SELECT 1 FROM jobs WHERE jobs.batch = batches.id AND hold = 'after' AND NOT \(comesAfterOwn)))
        """

    func open(batch id: Int, name: String?, done: @escaping @Sendable () -> Void) {
        write(
            wanted: .now,
            { database, _ in
                try database.run(
                    "INSERT INTO batches (id, name, open, created) VALUES (?, ?, 1, ?)",
                    [.integer(id), .optional(name), .real(Timestamp.now())])
            }, done: done)
    }

    /// One that is whole, with its jobs.
    static func insert(_ batch: BatchRecord, _ database: Database) throws {
        try database.run(
            "INSERT OR IGNORE INTO batches (id, name, open, created) VALUES (?, ?, ?, ?)",
            [
                .integer(batch.id), .optional(batch.name), .integer(batch.isOpen ? 1 : 0), .real(Timestamp.now()),
            ])
    }

    /// No more jobs come.
    func close(batch id: Int, done: (@Sendable () -> Void)? = nil) {
        write(
            wanted: .now,
            { database, _ in
                try database.run("UPDATE batches SET open = 0 WHERE id = ?", [.integer(id)])
                try database.run("INSERT OR IGNORE INTO arrivals (batch) VALUES (?)", [.integer(id)])
            }, done: done)
    }

    /// At the start: nobody is there any more to add to a batch, and what was to be announced may not have been.
    func lookAtBatches() {
        write({ database, _ in
            try database.script(
                """
                UPDATE batches SET open = 0 WHERE open = 1;
                INSERT OR IGNORE INTO arrivals (batch) SELECT id FROM batches WHERE finished IS NULL;
                """)
        })
    }

    /// Before a commit: the batches that have arrived, or ended, with it.
    static func settleBatches(_ database: Database) throws -> [(batch: Int, news: BatchNews)] {
        guard try database.first("SELECT 1 FROM arrivals LIMIT 1", [], { _ in true }) == true else { return [] }
        let settled = try news("id IN (SELECT batch FROM arrivals)", [], database)
        try database.run(
            """
            UPDATE batches SET finished = NULL WHERE finished IS NOT NULL AND id IN (SELECT batch FROM arrivals) AND \(onWay)
            """)
        try database.run("DELETE FROM arrivals")
        return settled
    }

    /// What has become of the batches that `condition` speaks of, of which nobody is on the way.
    private static func news(
        _ condition: String, _ values: [Database.Value], _ database: Database
    ) throws -> [(batch: Int, news: BatchNews)] {
        var news: [(Int, BatchNews)] = []
        try database.rows(
            """
            SELECT id, (SELECT MIN(segment) FROM jobs WHERE jobs.batch = batches.id AND hold = 'barrier'), arrived,
                EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_of_batch_undisposed WHERE jobs.batch = batches.id
                    AND batch IS NOT NULL AND disposed = 0 AND state IN ('done', 'failed', 'cancelled'))
            FROM batches WHERE \(condition) AND open = 0 AND finished IS NULL AND NOT \(onWay) ORDER BY id
            """, values
        ) { row in
            let atBarrier = row.optionalInteger(1).map { $0 > row.integer(2) ? BatchNews.arrived : .joined }
            // Some originals are still to be moved.
            if atBarrier == nil, row.integer(3) != 0 { return }
            news.append((row.integer(0), atBarrier ?? .ended))
        }
        return news
    }

    /// Announces what has become of a batch: of what there is to tell, what is so now. Those that wait at its lowest barrier go on, at the
    /// places that they had; hands over how many.
    func announce(_ batch: Int, done: @escaping @Sendable (_ released: Int) -> Void) {
        let released = Handed(0)
        write(
            wanted: .now,
            { database, _ in
                released.value = 0
                guard let news = try Self.news("id = ?", [.integer(batch)], database).first?.news else { return }
                var event = LoggedEvent(kind: "batch", text: news.rawValue)
                event.batch = batch
                if news != .joined { try Self.event(database, event) }
                if news == .ended {
                    return try database.run(
                        "UPDATE batches SET finished = ?, arrived = 0 WHERE id = ?",
                        [.real(event.time), .integer(batch)])
                }
                let barrier = "(SELECT MIN(segment) FROM jobs WHERE batch = ?1 AND hold = 'barrier')"
                try database.run(
                    "UPDATE batches SET arrived = MAX(arrived, \(barrier)) WHERE id = ?1", [.integer(batch)])
                let which = "batch = ?1 AND hold = 'barrier' AND segment = \(barrier)"
                try database.run(
                    """
                    INSERT INTO events (time, kind, job, state) SELECT ?2, 'job', id, 'queued' FROM jobs
                    WHERE \(which) ORDER BY position
                    """, [.integer(batch), .real(event.time)])
                try database.run(
                    "UPDATE jobs SET state = 'queued', hold = NULL, reason = NULL WHERE \(which)", [.integer(batch)])
                released.value = database.changes
            }, done: { done(released.value) })
    }

    /// Those of the IDs that there are.
    func batches(_ ids: Set<Int>) throws -> [Int: BatchRecord] {
        guard !ids.isEmpty else { return [:] }
        var batches: [Int: BatchRecord] = [:]
        let wanted = [Database.Value.text(try JSONText.encode(ids.sorted()))]
        try read { database in
            try database.rows(
                "SELECT id, name, open, finished IS NOT NULL FROM batches WHERE id IN (SELECT value FROM json_each(?))",
                wanted
            ) {
                batches[$0.integer(0)] = BatchRecord(
                    id: $0.integer(0), name: $0.optionalText(1), isOpen: $0.integer(2) != 0,
                    hasEnded: $0.integer(3) != 0)
            }
            try database.rows(
                "SELECT batch, state, segment, jobs FROM tallies WHERE batch IN (SELECT value FROM json_each(?)) AND jobs > 0",
                wanted
            ) { row in
                guard let state = JobState(rawValue: row.text(1)) else { return }
                let (batch, segment, count) = (row.integer(0), row.integer(2), row.integer(3))
                batches[batch]?.jobs[state, default: 0] += count
                if segment == 0, state == .waiting { batches[batch]?.held += count }
                if segment > 0, !state.isFinal { batches[batch]?.reached[segment, default: 0] += count }
            }
        }
        return batches
    }

    /// The batches that have not ended: the first of them, how many there are, and how many of all their jobs have not ended.
    func unfinishedBatches(limit: Int) throws -> (ids: [Int], count: Int, jobs: Int) {
        try read { database in
            var ids: [Int] = []
            try database.rows(
                "SELECT id FROM batches WHERE finished IS NULL ORDER BY id LIMIT ?", [.integer(limit)]
            ) { ids.append($0.integer(0)) }
            let sums = try database.first(
                """
                SELECT COUNT(*), IFNULL(SUM((SELECT SUM(jobs) FROM tallies WHERE batch = batches.id
                    AND state IN ('waiting', 'queued', 'running', 'cancelling'))), 0)
                FROM batches WHERE finished IS NULL
                """
            ) { ($0.integer(0), $0.integer(1)) }
            return (ids, sums?.0 ?? 0, sums?.1 ?? 0)
        }
    }
}
