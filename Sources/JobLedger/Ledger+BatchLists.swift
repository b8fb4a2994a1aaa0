package import JobModel
import PipelineModel

/// Lookup of batches by ID and by name.
extension Ledger {
    package nonisolated func batches(_ ids: Set<Int>) throws -> [Int: BatchRecord] {
        guard !ids.isEmpty else { return [:] }
        let records = try batches("id IN (SELECT value FROM json_each(?))", [.list(ids)]).map { ($0.id, $0) }
        return Dictionary(uniqueKeysWithValues: records)
    }

    /// A page of the batches that are unfinished or have jobs, oldest first, with IDs greater than `id`. If `name` is
    /// given, only batches of that name. If `newest` is given, a finished batch must be among the `newest` latest
    /// batches.
    package nonisolated func batches(
        named name: String?, newest: Int?, after id: Int, limit: Int
    ) throws -> [BatchRecord] {
        let isShown = """
            (finished IS NULL OR EXISTS (SELECT 1 FROM tallies WHERE batch = batches.id AND jobs > 0))
                AND (?1 IS NULL OR name = ?1)
            """
        return try batches(
            """
            id > ?2 AND \(isShown) AND (?3 IS NULL OR finished IS NULL OR id >= IFNULL(
                (SELECT id FROM batches WHERE \(isShown) ORDER BY id DESC LIMIT 1 OFFSET ?3 - 1), 0))
            ORDER BY id LIMIT ?4
            """, [.optional(name), .integer(id), .optional(newest), .integer(limit)])
    }

    /// The batch whose ID is `word`, else the newest batch of this name. `others` is the number of other batches of
    /// that name.
    package nonisolated func find(batch word: String) throws -> (batch: BatchRecord, others: Int)? {
        let named = try rows("SELECT id FROM batches WHERE name = ? ORDER BY id", [.text(word)]) { $0.integer(0) }
        if let number = Int(word), let batch = try batches([number])[number] {
            return (batch, named.count { $0 != number })
        }
        return try named.last.flatMap { try batches([$0])[$0] }.map { ($0, named.count - 1) }
    }

    /// A page of the jobs of a batch that are over, in the order of their IDs, with IDs greater than `id`. Reads only
    /// the columns that a waiting client needs.
    package nonisolated func over(inBatch batch: Int, after id: Int, limit: Int) throws -> [JobEnd] {
        try rows(
            """
            SELECT id, state FROM jobs INDEXED BY jobs_by_batch
            WHERE batch = ? AND batch IS NOT NULL AND id > ? AND state IN \(Self.final) AND disposed = 1
                AND returns IS NULL ORDER BY id LIMIT ?
            """, [.integer(batch), .integer(id), .integer(limit)]
        ) { row in JobState(rawValue: row.text(1)).map { JobEnd(id: row.integer(0), state: $0) } }.compactMap(\.self)
    }

    /// Distinct batch names, the latest first.
    package nonisolated func batchNames(limit: Int) throws -> [String] {
        try rows(
            "SELECT name FROM batches WHERE name IS NOT NULL GROUP BY name ORDER BY MAX(id) DESC LIMIT ?",
            [.integer(limit)]
        ) { $0.text(0) }
    }

    private nonisolated func batches(_ choice: String, _ values: [Database.Value]) throws -> [BatchRecord] {
        try read { database in
            var records = try database.rows(
                """
                SELECT id, name, open, created, finished, (
                    SELECT json_extract(o.body, '$.recipe') FROM orders o WHERE o.id = (
                        SELECT work FROM jobs INDEXED BY jobs_by_batch WHERE batch = batches.id AND batch IS NOT NULL
                        ORDER BY id LIMIT 1))
                FROM batches WHERE \(choice)
                """, values
            ) { row in
                var batch = BatchRecord(id: row.integer(0), name: row.optionalText(1), isOpen: row.integer(2) != 0)
                (batch.created, batch.finished, batch.recipe) = (row.real(3), row.optionalReal(4), row.optionalText(5))
                return batch
            }
            let places = Dictionary(uniqueKeysWithValues: records.indices.map { (records[$0].id, $0) })
            _ = try database.rows(
                "SELECT batch, state, segment, jobs FROM tallies WHERE batch IN (SELECT value FROM json_each(?)) AND jobs > 0",
                [.list(records.map(\.id))]
            ) { row in
                guard let place = places[row.integer(0)], let state = JobState(rawValue: row.text(1)) else { return }
                let (segment, count) = (row.integer(2), row.integer(3))
                records[place].jobs[state, default: 0] += count
                if segment == 0, state == .waiting { records[place].waiting += count }
                if segment > 0, !state.isFinal { records[place].reached[segment, default: 0] += count }
            }
            return records
        }
    }
}
