package import JobModel
import PipelineModel
import ServiceProgram

/// Redoes and undoes done jobs. A redo processes a done job again. During the redo, `former` refers to the work order
/// that produced the results in the outbox. If the redo fails or is cancelled, the job returns to `done` and keeps
/// these results.
extension Ledger {
    /// A done job whose results are being withdrawn.
    package struct Undone: Sendable {
        package var job: Int
        /// The results to withdraw, in the form of a publish intent.
        var intent: PublishIntent
        var reason: String
        /// The target folder of the original; `cancelled/` if nil.
        var goal: String?

        package init(job: Int, intent: PublishIntent, reason: String, goal: String?) {
            (self.job, self.intent, self.reason, self.goal) = (job, intent, reason, goal)
        }
    }

    /// Marks done jobs as cancelled. Their disposal then withdraws the results and moves the originals. Returns the IDs
    /// of the marked jobs, or nil if SQLite refuses the write. Blocks until the write is durable.
    package nonisolated func undo(_ jobs: [Undone]) -> Set<Int>? {
        wait(isAsked: true, refused: nil) { ledger -> Set<Int>? in
            var undone: Set<Int> = []
            for one in jobs {
                try ledger.writer.run(
                    """
                    UPDATE jobs SET state = 'cancelled', reason = \(one.reason), intent = \(JSONText.encode(one.intent)),
                        goal = \(one.goal), started = NULL, finished = \(Timestamp.now()), disposed = 0, outputs = NULL,
                        error = NULL, advice = NULL, failure = NULL, story = json_set(story, '$.after', json('[]'))
                    WHERE id = \(one.job) AND state = 'done' AND disposed = 1 AND returns IS NULL AND removed IS NULL
                    """)
                guard ledger.writer.changes > 0 else { continue }
                undone.insert(one.job)
                try ledger.writer.run("DELETE FROM kept WHERE job = \(one.job) AND place = 'results'")
                try ledger.add(.job(one.job, .cancelled, one.reason))
            }
            return undone
        }
    }

    /// Cancels the redo of every job that matches `condition`. Returns how many of these jobs were queued, and how many
    /// were waiting.
    func cancelRedos(where condition: SQL, at time: Double) throws -> (queued: Int, waiting: Int) {
        guard try writer.isAny("SELECT 1 FROM jobs INDEXED BY jobs_redone WHERE former IS NOT NULL LIMIT 1") else {
            return (0, 0)
        }
        let which: SQL = "former IS NOT NULL AND \(condition)"
        let states: [JobState] = try writer.column("SELECT state FROM jobs WHERE \(which)")
        guard !states.isEmpty else { return (0, 0) }
        try add(.done, text: "\(JobRecord.redoCancelled)", at: time, where: which)
        try writer.run(
            """
            UPDATE jobs SET state = 'done', work = former, former = NULL, hold = NULL, due = NULL, failure = NULL,
                advice = NULL, error = \(JobRecord.redoCancelled), reason = \(JobRecord.asBefore), finished = \(time)
            WHERE \(which)
            """)
        let waiting = states.count { $0 == .waiting }
        return (states.count - waiting, waiting)
    }

    /// Finds every original that the ledger records below the folder, and calls `each` with its path relative to the
    /// folder.
    package nonisolated func forEachOriginal(in folder: String, _ each: (String) -> Void) throws {
        // "0" follows "/" in ASCII, so the two bounds enclose all paths below the folder.
        let (first, last) = (folder + "/", folder + "0")
        try read { database in
            try database.forEach(
                """
                SELECT substr(source, length(\(first)) + 1) AS path FROM jobs WHERE source > \(first) AND source < \(last)
                """
            ) { each(try $0["path"]) }
        }
    }
}
