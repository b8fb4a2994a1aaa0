import PipelineModel

extension Ledger {
    /// Gives what is queued or waits, of the chosen jobs, another priority; hands over how many that are.
    func prioritise(_ choice: JobChoice, _ priority: Priority, done: @escaping @Sendable (Int) -> Void) {
        let count = Handed(0)
        write(
            urgent: true,
            { database, _ in
                try database.run(
                    """
                    UPDATE jobs SET priority = ?1 WHERE state IN ('queued', 'waiting') AND \(JobChoice.condition(from: 2))
                    """, [.integer(priority.rank)] + choice.values)
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
