package import JobModel
import PipelineModel

/// Finds batches by ID and by name.
extension Ledger {
    package nonisolated func batches(_ ids: Set<Int>) throws -> [Int: BatchRecord] {
        guard !ids.isEmpty else { return [:] }
        let records = try batches("id IN \(Array(ids))").map { ($0.id, $0) }
        return Dictionary(uniqueKeysWithValues: records)
    }

    /// Returns a page of the batches that are unfinished or have jobs, oldest first, with IDs greater than `id`. If
    /// `name` is given, the page contains only batches with this name. If `newest` is given, the page leaves out
    /// finished batches that are older than the last `newest` batches.
    package nonisolated func batches(
        named name: String?, newest: Int?, after id: Int, limit: Int
    ) throws -> [BatchRecord] {
        let isShown: SQL = """
            (finished IS NULL OR EXISTS (SELECT 1 FROM tallies WHERE batch = batches.id AND jobs > 0))
                AND (\(name) IS NULL OR name = \(name))
            """
        return try batches(
            """
            id > \(id) AND \(isShown) AND (\(newest) IS NULL OR finished IS NULL OR id >= IFNULL(
                (SELECT id FROM batches WHERE \(isShown) ORDER BY id DESC LIMIT 1 OFFSET \(newest) - 1), 0))
            ORDER BY id LIMIT \(limit)
            """)
    }

    /// Returns the batch with the ID `word`, or else the newest batch with the name `word`. `others` is the number of
    /// other batches with this name.
    package nonisolated func find(batch word: String) throws -> (batch: BatchRecord, others: Int)? {
        let named: [Int] = try column("SELECT id FROM batches WHERE name = \(word) ORDER BY id")
        if let number = Int(word), let batch = try batches([number])[number] {
            return (batch, named.count { $0 != number })
        }
        return try named.last.flatMap { try batches([$0])[$0] }.map { ($0, named.count - 1) }
    }

    /// Returns a page of the batch's jobs that are over (`JobRecord.isOver`), ordered by ID, with IDs greater than
    /// `id`. Reads only the columns that a waiting client needs.
    package nonisolated func over(inBatch batch: Int, after id: Int, limit: Int) throws -> [JobEnd] {
        try rows(
            """
            SELECT id, state FROM jobs INDEXED BY jobs_by_batch
            WHERE batch = \(batch) AND batch IS NOT NULL AND id > \(id) AND state IN \(Self.final) AND disposed = 1
                AND returns IS NULL ORDER BY id LIMIT \(limit)
            """, JobEnd.init)
    }

    /// Returns the paths of all results of a batch, in the order of its jobs.
    package nonisolated func results(ofBatch batch: Int) throws -> [String] {
        try column(
            """
            SELECT CASE made.type WHEN 'text' THEN made.value ELSE json_extract(made.value, '$.path') END
            FROM jobs AS job INDEXED BY jobs_by_batch, json_each(job.outputs) AS made
            WHERE job.batch = \(batch) AND job.batch IS NOT NULL
                AND (job.state IN \(Self.final) OR job.former IS NOT NULL)
            ORDER BY job.id, made.key
            """)
    }

    /// Returns the distinct batch names, the most recent first.
    package nonisolated func batchNames(limit: Int) throws -> [String] {
        try column(
            "SELECT name FROM batches WHERE name IS NOT NULL GROUP BY name ORDER BY MAX(id) DESC LIMIT \(limit)")
    }

    private nonisolated func batches(_ choice: SQL) throws -> [BatchRecord] {
        try read { database in
            var records = try database.rows(
                """
                SELECT id, name, open, created, finished, (
                    SELECT json_extract(o.body, '$.recipe') FROM orders o WHERE o.id = (
                        SELECT work FROM jobs INDEXED BY jobs_by_batch WHERE batch = batches.id AND batch IS NOT NULL
                        ORDER BY id LIMIT 1)) AS recipe
                FROM batches WHERE \(choice)
                """
            ) { row in
                var batch = try BatchRecord(id: row["id"], name: row["name"], isOpen: row["open"])
                (batch.created, batch.finished, batch.recipe) = try (row["created"], row["finished"], row["recipe"])
                return batch
            }
            let places = Dictionary(uniqueKeysWithValues: records.indices.map { (records[$0].id, $0) })
            try database.forEach(
                "SELECT batch, state, segment, jobs FROM tallies WHERE batch IN \(records.map(\.id)) AND jobs > 0"
            ) { row in
                guard let place = places[try row["batch"]] else { return }
                let (state, segment, count): (JobState, Int, Int) = try (row["state"], row["segment"], row["jobs"])
                records[place].jobs[state, default: 0] += count
                if segment == 0, state == .waiting { records[place].waiting += count }
                if segment > 0, !state.isFinal { records[place].reached[segment, default: 0] += count }
            }
            return records
        }
    }
}
