/// How far the hooks of recipes have come in the event log.
extension Ledger {
    struct HookRecord: Sendable {
        /// Everything up to here has been run, or was there before the hook.
        var cursor: Int
        var failures = 0
    }

    func hooks() throws -> [String: HookRecord] {
        var hooks: [String: HookRecord] = [:]
        try read { database in
            try database.rows("SELECT recipe, cursor, failures FROM hooks") {
                hooks[$0.text(0)] = HookRecord(cursor: $0.integer(1), failures: $0.integer(2))
            }
        }
        return hooks
    }

    func record(hook recipe: String, _ record: HookRecord, done: (@Sendable () -> Void)? = nil) {
        write(
            wanted: done != nil ? .now : .sometime,
            { database, _ in
                try database.run(
                    "INSERT OR REPLACE INTO hooks (recipe, cursor, failures) VALUES (?, ?, ?)",
                    [.text(recipe), .integer(record.cursor), .integer(record.failures)])
            }, done: done)
    }

    func forget(hook recipe: String) {
        write({ database, _ in try database.run("DELETE FROM hooks WHERE recipe = ?", [.text(recipe)]) })
    }

    /// The announcements after `cursor`, each with the recipe of its job, or of the first of its batch; and how far was looked.
    func announcements(after cursor: Int, limit: Int) throws -> (found: [(cursor: Int, recipe: String)], seen: Int) {
        var found: [(Int, String)] = []
        let last = try read { database in
            try database.rows(
                """
                SELECT e.cursor, json_extract(o.body, '$.recipe') FROM events e
                JOIN jobs j ON j.id = COALESCE(e.job, (SELECT MIN(id) FROM jobs WHERE batch = e.batch))
                JOIN orders o ON o.id = j.work
                WHERE e.cursor > ? AND (e.kind = 'picture' OR (e.kind = 'batch' AND e.text = 'ended'))
                ORDER BY e.cursor LIMIT ?
                """, [.integer(cursor), .integer(limit)]
            ) { found.append(($0.integer(0), $0.text(1))) }
            return try Self.lastCursor(database)
        }
        return (found, found.count < limit ? last : found.last?.0 ?? last)
    }
}
