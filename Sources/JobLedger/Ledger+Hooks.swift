import JobModel
package import PipelineModel

/// The positions of the recipes' hooks in the event log.
extension Ledger {
    package struct HookRecord: Sendable {
        /// The hook has run for all events up to this cursor. A new hook skips the events before it.
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

    /// The events after `cursor` for which hooks run, each with the recipe of its job, or of the first job of its
    /// batch. `seen` is the cursor of the last event examined. A job without an original has no event `over`, so hooks
    /// run for its event `failed` or `cancelled` instead.
    package nonisolated func announcements(
        after cursor: Int, limit: Int
    ) throws -> (found: [(cursor: Int, recipe: String, occasion: HookOccasion)], seen: Int) {
        try read { database in
            let found = try database.rows(
                """
                SELECT e.cursor, json_extract(o.body, '$.recipe') AS recipe,
                    CASE e.kind WHEN 'batch' THEN 'batch' ELSE e.state END AS occasion FROM events e
                JOIN jobs j ON j.id = COALESCE(e.job, (SELECT MIN(id) FROM jobs WHERE batch = e.batch))
                JOIN orders o ON o.id = j.work
                WHERE e.cursor > \(cursor) AND (e.kind IN ('picture', 'over') OR (e.kind = 'batch' AND e.text = 'ended')
                    OR (e.kind = 'job' AND e.state IN ('failed', 'cancelled') AND j.inode = 0))
                ORDER BY e.cursor LIMIT \(limit)
                """
            ) { row -> (cursor: Int, recipe: String, occasion: HookOccasion) in
                try (row["cursor"], row["recipe"], row["occasion"] ?? .done)
            }
            let last = try Self.lastCursor(database)
            return (found, found.count < limit ? last : found.last?.cursor ?? last)
        }
    }
}
