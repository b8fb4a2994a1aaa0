import DaemonRuntime
package import JobModel
package import PipelineModel
import SystemCalls

/// The originals and results that jobs leave behind, in the table `kept`. Removing a file takes two commits: the first
/// marks its row as `leaving`, the second deletes the row. In between, no request can bring the original back, and
/// after a crash the next start completes the removal.
extension Ledger {
    /// A position in the order of removal.
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
        try writer.run("DELETE FROM kept WHERE job = ? AND place = 'results'", [.integer(job.id)])
        for result in job.outputs {
            guard let file = result.file else { continue }
            let kept = KeptMarks(recipe: job.order.recipe, path: result.path, file: file)
            try keep(kept, of: job.id, in: .results)
        }
    }

    func keep(_ kept: KeptMarks, of job: Int, in place: KeptPlace) throws {
        // If a user has dropped the same file again, its age counts from its latest job, so the earlier row is deleted.
        try writer.run(
            """
            DELETE FROM kept INDEXED BY kept_by_change WHERE modified = ? AND modified <> 0 AND size = ? AND path = ?
            """, [.integer(kept.file.modified), .integer(kept.file.size), .text(kept.path)])
        try writer.run(
            """
            INSERT INTO kept (job, place, recipe, path, device, inode, size, modified, time)
            VALUES (?,?,?,?,?,?,?,?,?)
            """,
            [
                .integer(job), .text(place.rawValue), .text(kept.recipe), .text(kept.path),
                .integer(kept.file.device), .integer(kept.file.inode), .integer(kept.file.size),
                .integer(kept.file.modified), .real(Timestamp.now()),
            ])
    }

    // MARK: - Reading

    /// Number and total size of the kept files in each place.
    package nonisolated func keptSums() throws -> [KeptPlace: KeptSum] {
        let sums = try rows("SELECT place, files, bytes FROM kept_sums WHERE files > 0") { row in
            (KeptPlace(rawValue: row.text(0)), KeptSum(files: row.integer(1), bytes: row.integer(2)))
        }
        return sums.reduce(into: [:]) { sums, one in if let place = one.0 { sums[place] = one.1 } }
    }

    /// Number and total size of the kept files in one place, optionally of one recipe. Triggers maintain the totals of
    /// a place; a query computes the totals of a recipe.
    package nonisolated func keptSum(in place: KeptPlace, of recipe: String?) throws -> KeptSum {
        guard let recipe else { return try keptSums()[place] ?? KeptSum() }
        return try first(
            "SELECT COUNT(*), COALESCE(SUM(size), 0) FROM kept WHERE place = ? AND recipe = ?",
            [.text(place.rawValue), .text(recipe)]
        ) { KeptSum(files: $0.integer(0), bytes: $0.integer(1)) } ?? KeptSum()
    }

    /// The time when the oldest kept file in a place was put there.
    package nonisolated func oldestKept(in place: KeptPlace) throws -> Double? {
        try first(
            "SELECT time FROM kept INDEXED BY kept_by_time WHERE place = ? ORDER BY time LIMIT 1",
            [.text(place.rawValue)]
        ) { $0.real(0) }
    }

    /// A page of the kept files after a position, oldest first, without files that are being removed.
    package nonisolated func kept(
        in place: KeptPlace, of recipe: String?, after position: KeptPosition, limit: Int
    ) throws -> [KeptFile] {
        try keptFiles(
            """
            INDEXED BY kept_by_time WHERE place = ?1 AND (time, id) > (?2, ?3) AND leaving IS NULL
                AND (?4 IS NULL OR recipe = ?4) ORDER BY time, id LIMIT ?5
            """,
            [
                .text(place.rawValue), .real(position.time), .integer(position.id), .optional(recipe), .integer(limit),
            ])
    }

    /// Files whose removal was interrupted when the daemon ended.
    package nonisolated func leavingFiles() throws -> [KeptFile] {
        try keptFiles("INDEXED BY kept_leaving WHERE leaving IS NOT NULL ORDER BY id")
    }

    private nonisolated func keptFiles(_ rest: String, _ values: [Database.Value] = []) throws -> [KeptFile] {
        try rows(
            "SELECT id, job, place, recipe, path, device, inode, size, modified, time, leaving FROM kept \(rest)",
            values
        ) { row in
            KeptFile(
                id: row.integer(0), job: row.integer(1), place: KeptPlace(rawValue: row.text(2)) ?? .archive,
                recipe: row.text(3), path: row.text(4),
                file: FileStatus.Identity(
                    device: row.integer(5), inode: row.integer(6), size: row.integer(7), modified: row.integer(8)),
                time: row.real(9),
                leaving: try row.optionalText(10).map { try JSONText.decode(JobRecord.Removal.self, $0) })
        }
    }

    // MARK: - Removing

    /// Marks files as `leaving` before they are removed. Returns the IDs of the marked files, or nil if the ledger
    /// refuses the write. Skips a file if its job is being brought back or is not over. Blocks until the write is
    /// durable.
    package nonisolated func begin(removing files: [KeptFile], _ removal: JobRecord.Removal) -> Set<Int>? {
        wait(isAsked: true, refused: nil) { ledger in
            let removal = Database.Value.text(try JSONText.encode(removal))
            var begun: Set<Int> = []
            for file in files {
                try ledger.writer.run(
                    """
                    UPDATE kept SET leaving = ? WHERE id = ? AND leaving IS NULL AND NOT EXISTS (
                        SELECT 1 FROM jobs WHERE id = kept.job
                            AND (state NOT IN \(Self.final) OR disposed = 0 OR returns IS NOT NULL))
                    """, [removal, .integer(file.id)])
                guard ledger.writer.changes > 0 else { continue }
                begun.insert(file.id)
                if file.place != .results, file.file != .none {
                    try ledger.writer.run("UPDATE jobs SET removed = ? WHERE id = ?", [removal, .integer(file.job)])
                }
            }
            return begun
        }
    }

    /// Deletes the rows of files that are gone or replaced. Blocks until the change is durable. If the write fails, the
    /// next check finds the files again, by `leaving`.
    package nonisolated func forget(kept files: [KeptFile]) {
        guard !files.isEmpty else { return }
        wait(isAsked: true, refused: ()) { ledger in
            try ledger.writer.run(
                "DELETE FROM kept WHERE id IN (SELECT value FROM json_each(?))", [.list(files.map(\.id))])
        }
    }

    /// Sets the time of all kept files in a place that are dated before `earliest` to `time`. Blocks until the write is
    /// durable or has failed.
    package nonisolated func redate(in place: KeptPlace, before earliest: Double, to time: Double) {
        wait(isAsked: true, refused: ()) { ledger in
            try ledger.writer.run(
                "UPDATE kept SET time = ? WHERE place = ? AND time < ?",
                [.real(time), .text(place.rawValue), .real(earliest)])
        }
    }

    /// Clears the mark `leaving` of files that are not removed after all. Blocks until the write is durable or has
    /// failed.
    package nonisolated func abandon(removing files: [KeptFile]) {
        guard !files.isEmpty else { return }
        wait(isAsked: true, refused: ()) { ledger in
            for file in files {
                try ledger.writer.run("UPDATE kept SET leaving = NULL WHERE id = ?", [.integer(file.id)])
                if file.place != .results {
                    try ledger.writer.run("UPDATE jobs SET removed = NULL WHERE id = ?", [.integer(file.job)])
                }
            }
        }
    }
}
