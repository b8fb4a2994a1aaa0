import DaemonRuntime
package import PipelineModel

extension Ledger {
    /// Gives the chosen jobs that are queued or wait another priority, with an event for each that had a different one; hands over how many
    /// jobs are queued or wait.
    package nonisolated func prioritise(
        _ choice: JobChoice, _ priority: Priority, done: @escaping @Sendable (Int) -> Void
    ) {
        write(
            refused: 0,
            { ledger in
                let values = [.integer(priority.rank)] + (try choice.values)
                let event = [.real(Timestamp.now()), .text(priority.rawValue)] + [Database.Value]()
                try ledger.writer.run(
                    """
                    INSERT INTO events (kind, job, state, time, text) SELECT 'priority', id, state, ?7, ?8 FROM jobs
                    WHERE priority <> ?1 AND state IN ('queued', 'waiting') AND \(JobChoice.condition(from: 2))
                    ORDER BY position
                    """, values + event)
                try ledger.writer.run(
                    """
                    UPDATE jobs SET priority = ?1 WHERE state IN ('queued', 'waiting') AND \(JobChoice.condition(from: 2))
                    """, values)
                return ledger.writer.changes
            }, done: done)
    }

    /// Whether there are jobs of a recipe that need not be there any more.
    package nonisolated func knows(recipe: String) throws -> Bool {
        try isAny(
            "SELECT 1 FROM jobs WHERE work IN (SELECT id FROM orders WHERE json_extract(body, '$.recipe') = ?) LIMIT 1",
            [.text(recipe)])
    }
}
