import DaemonRuntime
import PipelineModel

extension Ledger {
    /// Gives what is queued or waits, of the chosen jobs, another priority, with an event for each that had another; hands over how many
    /// that are.
    func prioritise(_ choice: JobChoice, _ priority: Priority, done: @escaping @Sendable (Int) -> Void) {
        let count = Handed(0)
        write(
            wanted: .now,
            { database, _ in
                let values = [.integer(priority.rank)] + (try choice.values)
                let event = [.real(Timestamp.now()), .text(priority.rawValue)] + [Database.Value]()
                try database.run(
                    """
                    INSERT INTO events (kind, job, state, time, text) SELECT 'priority', id, state, ?7, ?8 FROM jobs
                    WHERE priority <> ?1 AND state IN ('queued', 'waiting') AND \(JobChoice.condition(from: 2))
                    ORDER BY position
                    """, values + event)
                try database.run(
                    """
                    UPDATE jobs SET priority = ?1 WHERE state IN ('queued', 'waiting') AND \(JobChoice.condition(from: 2))
                    """, values)
                count.value = database.changes
            }, done: { done(count.value) })
    }

    /// Whether there are jobs of a recipe that need not be there any more.
    func knows(recipe: String) throws -> Bool {
        try read { database in
            try database.first(
                """
                SELECT 1 FROM jobs WHERE work IN (SELECT id FROM orders WHERE json_extract(body, '$.recipe') = ?) LIMIT 1
                """, [.text(recipe)]
            ) { _ in true }
        } ?? false
    }
}
