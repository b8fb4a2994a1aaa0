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
        let hooks = try rows("SELECT recipe, cursor, failures FROM hooks") {
            ($0.text(0), HookRecord(cursor: $0.integer(1), failures: $0.integer(2)))
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
                    "INSERT OR REPLACE INTO hooks (recipe, cursor, failures) VALUES (?, ?, ?)",
                    [.text(recipe), .integer(record.cursor), .integer(record.failures)])
            }, done: done)
    }

    package nonisolated func forget(hook recipe: String) {
        write { try $0.writer.run("DELETE FROM hooks WHERE recipe = ?", [.text(recipe)]) }
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
                SELECT e.cursor, json_extract(o.body, '$.recipe'),
                    CASE e.kind WHEN 'batch' THEN 'batch' ELSE e.state END FROM events e
                JOIN jobs j ON j.id = COALESCE(e.job, (SELECT MIN(id) FROM jobs WHERE batch = e.batch))
                JOIN orders o ON o.id = j.work
                WHERE e.cursor > ? AND (e.kind IN ('picture', 'over') OR (e.kind = 'batch' AND e.text = 'ended')
                    OR (e.kind = 'job' AND e.state IN ('failed', 'cancelled') AND j.inode = 0))
                ORDER BY e.cursor LIMIT ?
                """, [.integer(cursor), .integer(limit)]
            ) { (cursor: $0.integer(0), recipe: $0.text(1), occasion: HookOccasion(rawValue: $0.text(2)) ?? .done) }
            let last = try Self.lastCursor(database)
            return (found, found.count < limit ? last : found.last?.cursor ?? last)
        }
    }
}
