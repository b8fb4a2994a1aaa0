import JobModel
import PipelineModel
import ServiceProgram

package enum BatchNews: String, Sendable {
    /// Every job of the batch has reached a barrier or ended.
    case arrived
    /// Jobs that arrived late have reached a barrier that the other jobs of the batch have already passed.
    case joined
    /// Every job of the batch is over.
    case ended
}

/// Batches: groups of jobs that clients watch, wait for and cancel together.
///
/// Triggers record the batch of each changed job in `arrivals`. The ledger checks the batches in `arrivals` before each
/// commit. So no other code has to count the jobs of a batch, and a crash can't lose the end of a batch.
extension Ledger {
    /// Whether any job of the batch is on its way: it has not ended, and does not wait at a barrier. A job that depends
    /// on another job of the batch does not count. If it counted, and the other job waited at the barrier, both jobs
    /// would wait forever.
    private static let onWay: SQL = """
        (EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_on_way WHERE jobs.batch = batches.id AND batch IS NOT NULL
            AND \(isUnfinished) AND hold IS NOT 'barrier' AND hold IS NOT 'after')
        OR EXISTS (SELECT 1 FROM jobs WHERE jobs.batch = batches.id AND hold = 'after' AND NOT \(comesAfterOwn)))
        """

    package nonisolated func open(batch id: Int, name: String?, done: @escaping @Sendable () -> Void) {
        write(wanted: .now, isAsked: true, { try $0.insert(BatchRecord(id: id, name: name, isOpen: true)) }, done: done)
    }

    /// Adds a batch, unless a batch with this ID exists.
    func insert(_ batch: BatchRecord) throws {
        try writer.run(
            """
            INSERT OR IGNORE INTO batches (id, name, open, created)
            VALUES (\(batch.id), \(batch.name), \(batch.isOpen), \(Timestamp.now()))
            """)
    }

    /// Closes a batch: its client adds no more jobs, so the batch can end.
    package nonisolated func close(batch id: Int, done: (@Sendable () -> Void)? = nil) {
        write(
            wanted: .now,
            { ledger in
                try ledger.writer.run("UPDATE batches SET open = 0 WHERE id = \(id)")
                try ledger.writer.run("INSERT OR IGNORE INTO arrivals (batch) VALUES (\(id))")
            }, done: done)
    }

    /// Prepares batches at the start of the daemon. Closes all open batches, because their clients are gone. Rechecks
    /// all unfinished batches, and batches without a row that still have jobs at a barrier.
    package nonisolated func lookAtBatches() {
        write {
            try $0.writer.script(
                """
                UPDATE batches SET open = 0 WHERE open = 1;
                INSERT OR IGNORE INTO arrivals (batch) SELECT id FROM batches WHERE finished IS NULL;
                INSERT OR IGNORE INTO arrivals (batch) SELECT batch FROM jobs INDEXED BY jobs_at_barrier
                    WHERE hold = 'barrier' AND batch NOT IN (SELECT id FROM batches);
                """)
        }
    }

    /// Returns the batches that have ended or reached a barrier in the current transaction. Logs an event for each
    /// batch, unless only late jobs have reached the barrier. Called before each commit.
    func takeBatchNews() throws -> [(batch: Int, news: BatchNews)] {
        guard try writer.isAny("SELECT 1 FROM arrivals LIMIT 1") else { return [] }
        // The ledger forgets empty batches. Recreates the row of a forgotten batch that new jobs have joined.
        try writer.run(
            """
            INSERT OR IGNORE INTO batches (id, open, created) SELECT batch, 0, \(Timestamp.now()) FROM arrivals
            WHERE EXISTS (SELECT 1 FROM tallies WHERE tallies.batch = arrivals.batch AND jobs > 0)
            """)
        let changes = try news("id IN (SELECT batch FROM arrivals)")
        try writer.run(
            """
            UPDATE batches SET finished = NULL WHERE finished IS NOT NULL AND id IN (SELECT batch FROM arrivals) AND \(Self.onWay)
            """)
        for (batch, news) in changes {
            switch news {
            case .ended: try end(batch)
            case .arrived: try arrive(batch)
            case .joined: break
            }
        }
        try writer.run("DELETE FROM arrivals")
        return changes
    }

    /// Returns the closed, unfinished batches that match `condition` and whose jobs have all ended or reached a
    /// barrier, each with its news.
    private func news(_ condition: SQL) throws -> [(batch: Int, news: BatchNews)] {
        try writer.rows(
            """
            SELECT id, arrived,
                (SELECT MIN(segment) FROM jobs WHERE jobs.batch = batches.id AND hold = 'barrier') AS barrier,
                EXISTS (SELECT 1 FROM jobs INDEXED BY jobs_of_batch_undisposed WHERE jobs.batch = batches.id
                    AND batch IS NOT NULL AND disposed = 0 AND \(Self.isFinal)) AS hasOriginals
            FROM batches WHERE \(condition) AND open = 0 AND finished IS NULL AND NOT \(Self.onWay) ORDER BY id
            """
        ) { row -> (batch: Int, news: BatchNews)? in
            let (arrived, barrier): (Int, Int?) = try (row["arrived"], row["barrier"])
            let atBarrier = barrier.map { $0 > arrived ? BatchNews.arrived : .joined }
            // A batch ends only when all its originals have been moved.
            if atBarrier == nil, try row["hasOriginals"] { return nil }
            return (try row["id"], atBarrier ?? .ended)
        }
        .compactMap(\.self)
    }

    private func end(_ batch: Int) throws {
        let event = LoggedEvent(kind: "batch", text: BatchNews.ended.rawValue, batch: batch)
        try add(event)
        try writer.run("UPDATE batches SET finished = \(event.time), arrived = 0 WHERE id = \(batch)")
    }

    private func arrive(_ batch: Int) throws {
        try add(LoggedEvent(kind: "batch", text: BatchNews.arrived.rawValue, batch: batch))
        try writer.run("UPDATE batches SET arrived = \(Self.lowestBarrier(of: batch)) WHERE id = \(batch)")
    }

    private static func lowestBarrier(of batch: Int) -> SQL {
        "(SELECT MIN(segment) FROM jobs WHERE batch = \(batch) AND hold = 'barrier')"
    }

    /// Queues the jobs that wait at the batch's lowest barrier. They keep their positions in the queue. Passes their
    /// number to `done`.
    package nonisolated func release(_ batch: Int, done: @escaping @Sendable (_ released: Int) -> Void) {
        write(refused: 0, { try $0.release(batch) }, done: done)
    }

    private func release(_ batch: Int) throws -> Int {
        // All jobs of the batch may have ended meanwhile.
        guard let news = try news("id = \(batch)").first?.news, news != .ended else { return 0 }
        let which: SQL = "batch = \(batch) AND hold = 'barrier' AND segment = \(Self.lowestBarrier(of: batch))"
        try add(.queued, where: which)
        try writer.run("UPDATE jobs SET state = 'queued', hold = NULL, reason = NULL WHERE \(which)")
        return writer.changes
    }

    /// Returns the IDs of the first `limit` unfinished batches, the number of all unfinished batches, and the number of
    /// their unfinished jobs.
    package nonisolated func unfinishedBatches(limit: Int) throws -> (ids: [Int], count: Int, jobs: Int) {
        try read { database in
            let ids: [Int] = try database.column(
                "SELECT id FROM batches WHERE finished IS NULL ORDER BY id LIMIT \(limit)")
            let sums = try database.first(
                """
                SELECT COUNT(*) AS count, IFNULL(SUM((SELECT SUM(jobs) FROM tallies WHERE batch = batches.id
                    AND state IN \(Self.unfinished))), 0) AS jobs
                FROM batches WHERE finished IS NULL
                """
            ) { row -> (count: Int, jobs: Int) in try (row["count"], row["jobs"]) }
            return (ids, sums?.count ?? 0, sums?.jobs ?? 0)
        }
    }
}
