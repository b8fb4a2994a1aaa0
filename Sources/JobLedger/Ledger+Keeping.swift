package import JobModel
package import PipelineModel
import ServiceProgram
import SystemCalls

/// The originals and results that jobs leave behind, in the table `kept`. Removing a file takes two commits: the first
/// marks its row as `leaving`, the second deletes the row. In between, no request can bring the original back, and
/// after a crash the next start completes the removal.
extension Ledger {
    /// The position of a kept file in the order of removal, by age.
    package struct KeptPosition: Sendable {
        var time: Double
        var id: Int

        package init(of file: KeptFile) { (time, id) = (file.time, file.id) }

        package static let start = KeptPosition(time: -1, id: 0)

        private init(time: Double, id: Int) { (self.time, self.id) = (time, id) }
    }

    package struct KeptSum: Sendable, Hashable {
        package var files = 0
        package var bytes = 0
    }

    /// Adds a row for each result of a job. Results that an older version published get no rows: their identities were
    /// not recorded, so the daemon can't recognise these files.
    func keepResults(of job: JobRecord) throws {
        try writer.run("DELETE FROM kept WHERE job = \(job.id) AND place = 'results'")
        for result in job.outputs {
            guard let file = result.file else { continue }
            let kept = KeptMarks(recipe: job.order.recipe, path: result.path, file: file)
            try keep(kept, of: job.id, in: .results)
        }
    }

    func keep(_ kept: KeptMarks, of job: Int, in place: KeptPlace) throws {
        // Deletes the earlier row of a file that a user has dropped again: the file's age counts from the latest job.
        try writer.run(
            """
            DELETE FROM kept INDEXED BY kept_by_change WHERE modified = \(kept.file.modified) AND modified <> 0
                AND size = \(kept.file.size) AND path = \(kept.path)
            """)
        try writer.run(
            """
            INSERT INTO kept (job, place, recipe, path, device, inode, size, modified, time)
            VALUES (\(job), \(place), \(kept.recipe), \(kept.path), \(kept.file.device), \(kept.file.inode),
                \(kept.file.size), \(kept.file.modified), \(Timestamp.now()))
            """)
    }

    // MARK: - Reading

    /// Returns the number and the total size of the kept files in each place.
    package nonisolated func keptSums() throws -> [KeptPlace: KeptSum] {
        let sums = try rows("SELECT place, files, bytes FROM kept_sums WHERE files > 0") {
            row -> (KeptPlace, KeptSum) in try (row["place"], KeptSum(row))
        }
        return Dictionary(uniqueKeysWithValues: sums)
    }

    /// Returns the number and the total size of the kept files in one place, optionally of one recipe. Triggers
    /// maintain the totals of a place; a query computes the totals of a recipe.
    package nonisolated func keptSum(in place: KeptPlace, of recipe: String?) throws -> KeptSum {
        guard let recipe else { return try keptSums()[place] ?? KeptSum() }
        return try first(
            """
            SELECT COUNT(*) AS files, COALESCE(SUM(size), 0) AS bytes FROM kept
            WHERE place = \(place) AND recipe = \(recipe)
            """, KeptSum.init) ?? KeptSum()
    }

    /// Returns the time when the daemon put the oldest kept file in this place.
    package nonisolated func oldestKept(in place: KeptPlace) throws -> Double? {
        try value("SELECT time FROM kept INDEXED BY kept_by_time WHERE place = \(place) ORDER BY time LIMIT 1")
    }

    /// Returns a page of the kept files after this position, oldest first. Leaves out files that are being removed.
    package nonisolated func kept(
        in place: KeptPlace, of recipe: String?, after position: KeptPosition, limit: Int
    ) throws -> [KeptFile] {
        try keptFiles(
            """
            INDEXED BY kept_by_time WHERE place = \(place) AND (time, id) > (\(position.time), \(position.id))
                AND leaving IS NULL AND (\(recipe) IS NULL OR recipe = \(recipe)) ORDER BY time, id LIMIT \(limit)
            """)
    }

    /// Returns the files whose removal was interrupted when the daemon ended.
    package nonisolated func leavingFiles() throws -> [KeptFile] {
        try keptFiles("INDEXED BY kept_leaving WHERE leaving IS NOT NULL ORDER BY id")
    }

    private nonisolated func keptFiles(_ rest: SQL) throws -> [KeptFile] {
        try rows(
            "SELECT id, job, place, recipe, path, device, inode, size, modified, time, leaving FROM kept \(rest)"
        ) { row in
            let leaving: String? = try row["leaving"]
            return try KeptFile(
                id: row["id"], job: row["job"], place: row["place"] ?? .archive, recipe: row["recipe"],
                path: row["path"],
                file: FileStatus.Identity(
                    device: row["device"], inode: row["inode"], size: row["size"], modified: row["modified"]),
                time: row["time"], leaving: leaving.map { try JSONText.decode(JobRecord.Removal.self, $0) })
        }
    }

    // MARK: - Removing

    /// Marks files as `leaving` before they are removed. Returns the IDs of the marked files, or nil if the ledger
    /// refuses the write. Skips a file if its job is being brought back or is not over. Blocks until the write is
    /// durable.
    package nonisolated func begin(removing files: [KeptFile], _ removal: JobRecord.Removal) -> Set<Int>? {
        wait(isAsked: true, refused: nil) { ledger in
            let removal = try JSONText.encode(removal)
            var begun: Set<Int> = []
            for file in files {
                try ledger.writer.run(
                    """
                    UPDATE kept SET leaving = \(removal) WHERE id = \(file.id) AND leaving IS NULL AND NOT EXISTS (
                        SELECT 1 FROM jobs WHERE id = kept.job
                            AND (state NOT IN \(Self.final) OR disposed = 0 OR returns IS NOT NULL))
                    """)
                guard ledger.writer.changes > 0 else { continue }
                begun.insert(file.id)
                if file.place != .results, file.file != .none {
                    try ledger.writer.run("UPDATE jobs SET removed = \(removal) WHERE id = \(file.job)")
                }
            }
            return begun
        }
    }

    /// Deletes the rows of files that no longer exist or were replaced. If a row is marked as `leaving`, also logs the
    /// removal by a rule or a user. Blocks until the change is durable. If the write fails, the next check finds the
    /// files again, by `leaving`.
    package nonisolated func forget(kept files: [KeptFile]) {
        guard !files.isEmpty else { return }
        wait(isAsked: true, refused: ()) { ledger in
            let which: SQL = "id IN \(files.map(\.id))"
            try ledger.writer.run(
                """
                INSERT INTO events (time, kind, job, text)
                    SELECT \(Timestamp.now()), 'removed', job, CASE place WHEN 'results' THEN 'result' ELSE 'original' END
                        || ' removed by ' || json_extract(leaving, '$.by')
                    FROM kept WHERE \(which) AND leaving IS NOT NULL ORDER BY id
                """)
            try ledger.writer.run("DELETE FROM kept WHERE \(which)")
        }
    }

    /// Replaces every recorded time before `earliest` in this place with `time`. Blocks until the write is durable or
    /// has failed.
    package nonisolated func redate(in place: KeptPlace, before earliest: Double, to time: Double) {
        wait(isAsked: true, refused: ()) { ledger in
            try ledger.writer.run("UPDATE kept SET time = \(time) WHERE place = \(place) AND time < \(earliest)")
        }
    }

    /// Clears the mark `leaving` of files whose removal is abandoned. Blocks until the write is durable or has failed.
    package nonisolated func abandon(removing files: [KeptFile]) {
        guard !files.isEmpty else { return }
        wait(isAsked: true, refused: ()) { ledger in
            for file in files {
                try ledger.writer.run("UPDATE kept SET leaving = NULL WHERE id = \(file.id)")
                if file.place != .results {
                    try ledger.writer.run("UPDATE jobs SET removed = NULL WHERE id = \(file.job)")
                }
            }
        }
    }
}

extension Ledger.KeptSum {
    fileprivate init(_ row: Database.Row) throws { try self.init(files: row["files"], bytes: row["bytes"]) }
}
