package import JobModel
import PipelineModel
import SystemCalls

extension FirstQueue {
    /// The SQL condition for rows that start in this queue. It must match the conditions of the schema's indexes word
    /// for word; otherwise SQLite does not use these indexes.
    var condition: SQL {
        switch self {
        case .download: "url IS NOT NULL AND inode = 0"
        case .render: "(url IS NULL OR inode <> 0)"
        }
    }

    /// The name of the index on the queued rows that start in this queue.
    var index: SQL {
        switch self {
        case .download: "jobs_to_download"
        case .render: "jobs_to_render"
        }
    }
}

extension Ledger {
    /// Records that the original has been downloaded, with its name and identity.
    package nonisolated func recordDownload(of job: JobRecord) {
        write {
            try $0.writer.run(
                """
                UPDATE jobs SET path = \(job.path), device = \(job.file.device), inode = \(job.file.inode),
                    size = \(job.file.size), modified = \(job.file.modified)
                WHERE id = \(job.id)
                """)
        }
    }

    /// Records the downloaded part, from which a retry can resume.
    package nonisolated func recordPart(of job: JobRecord, done: @escaping @Sendable () -> Void) {
        write(
            wanted: .soon,
            {
                try $0.writer.run(
                    "UPDATE jobs SET partial = \(job.partial.map(JSONText.encode)) WHERE id = \(job.id)")
            }, done: done)
    }

    /// Returns the number of queued jobs that start in this queue.
    package nonisolated func queuedCount(_ entry: FirstQueue) throws -> Int {
        try read { try Self.queuedCount(entry, upTo: .max, $0) }
    }

    /// Returns how many of the queued jobs start with a download. `all` is the number of queued jobs. Counts either the
    /// downloads or the other jobs, whichever are fewer, because counting a million rows takes too long.
    package nonisolated func queuedDownloads(among all: Int) throws -> Int {
        try read { database in
            var most = 1000
            while true {
                let downloads = try Self.queuedCount(.download, upTo: most, database)
                if downloads < most { return min(all, downloads) }
                let pictures = try Self.queuedCount(.render, upTo: most, database)
                if pictures < most { return max(0, all - pictures) }
                most *= 8
            }
        }
    }

    private static func queuedCount(_ entry: FirstQueue, upTo most: Int, _ database: Database) throws -> Int {
        try database.value(
            """
            SELECT COUNT(*) FROM (SELECT 1 FROM jobs INDEXED BY \(entry.index)
                WHERE state = 'queued' AND \(entry.condition) LIMIT \(most))
            """) ?? 0
    }
}
