import JobModel
package import PipelineModel

/// Stores the position of each recipe's hook in the event log.
extension Ledger {
    package struct HookRecord: Sendable {
        /// The cursor of the last event for which the hook has run, or which the hook has skipped.
        package var cursor: Int
        package var failures: Int

        package init(cursor: Int, failures: Int = 0) { (self.cursor, self.failures) = (cursor, failures) }
    }

    package nonisolated func hooks() throws -> [String: HookRecord] {
        let hooks = try rows("SELECT recipe, cursor, failures FROM hooks") { row -> (String, HookRecord) in
            try (row["recipe"], HookRecord(cursor: row["cursor"], failures: row["failures"]))
        }
        return Dictionary(uniqueKeysWithValues: hooks)
    }

    package nonisolated func record(
        hook recipe: String, _ record: HookRecord, done: (@Sendable () -> Void)? = nil
    ) {
        write(
            wanted: done != nil ? .now : .sometime,
            {
                try $0.writer.run(
                    """
                    INSERT OR REPLACE INTO hooks (recipe, cursor, failures)
                    VALUES (\(recipe), \(record.cursor), \(record.failures))
                    """)
            }, done: done)
    }

    package nonisolated func forget(hook recipe: String) {
        write { try $0.writer.run("DELETE FROM hooks WHERE recipe = \(recipe)") }
    }

    /// Returns the events after `cursor` for which hooks run, each with the recipe of its job. The event of a batch is
    /// repeated for each recipe in the batch. `seen` is the cursor of the last event examined. The ledger logs no event
    /// `over` for a job without an original, so hooks run for the job's event `failed` or `cancelled` instead.
    package nonisolated func announcements(
        after cursor: Int, limit: Int
    ) throws -> (found: [(cursor: Int, recipe: String, occasion: HookOccasion)], seen: Int) {
        try read { database in
            let found = try database.rows(
                """
                SELECT e.cursor, e.kind, e.state, e.text, CASE e.kind WHEN 'batch'
                    THEN (SELECT json_group_array(DISTINCT recipe) FROM jobs INDEXED BY jobs_by_batch
                        WHERE batch = e.batch AND batch IS NOT NULL)
                    ELSE json_array(j.recipe) END AS recipes
                FROM events e
                JOIN jobs j ON j.id = COALESCE(e.job, (SELECT MIN(id) FROM jobs WHERE batch = e.batch))
                WHERE e.cursor > \(cursor) AND (e.kind IN ('picture', 'over')
                    OR (e.kind = 'batch' AND e.text IN ('arrived', 'ended'))
                    OR (e.kind = 'job' AND e.state IN ('failed', 'cancelled') AND j.inode = 0))
                ORDER BY e.cursor LIMIT \(limit)
                """
            ) { row -> (event: LoggedEvent, recipes: [String]) in
                let event = try LoggedEvent(
                    cursor: row["cursor"], kind: row["kind"], state: row["state"], text: row["text"])
                return (event, try JSONText.decode([String].self, row["recipes"]))
            }
            let last = try Self.lastCursor(database)
            let all = found.flatMap { event, recipes in recipes.map { (event.cursor, $0, event.occasion) } }
            return (all, found.count < limit ? last : found.last?.event.cursor ?? last)
        }
    }
}
