import PipelineModel
import SystemCalls

/// The queue that a job begins in. Each has a window of its own, so that downloads that are held up do not hold up pictures.
enum Entry: String, CaseIterable, Sendable {
    case download, render

    /// Of rows `j`, as the indexes have it.
    var condition: String {
        switch self {
        case .download: "j.url IS NOT NULL AND j.inode = 0"
        case .render: "(j.url IS NULL OR j.inode <> 0)"
        }
    }

    /// Of the queued ones.
    var index: String {
        switch self {
        case .download: "jobs_to_download"
        case .render: "jobs_to_render"
        }
    }
}

extension JobRecord {
    var entry: Entry { needsDownload ? .download : .render }
}

/// Downloads.
extension Ledger {
    /// The original has come, and what it is called is known.
    func recordDownload(of job: JobRecord) {
        write { database, _ in
            try database.run(
                "UPDATE jobs SET path = ?, device = ?, inode = ?, size = ?, modified = ? WHERE id = ?",
                [
                    .text(job.path), .integer(job.file.device), .integer(job.file.inode), .integer(job.file.size),
                    .integer(job.file.modified), .integer(job.id),
                ])
        }
    }

    /// The first queued downloads of a lane, without those in `except`.
    func queued(_ lane: HostLane, except: [Int], limit: Int) throws -> [JobRecord] {
        try jobs(
            by: "jobs_by_host",
            """
            WHERE j.state = 'queued' AND \(Entry.download.condition) AND j.priority = ? AND j.host = ?
                AND j.id NOT IN (SELECT value FROM json_each(?)) ORDER BY j.position LIMIT ?
            """,
            [
                .integer(lane.priority.rank), .text(lane.host), .text(Self.list(except)), .integer(limit),
            ])
    }

    /// The next host after `host`, by name, that has queued downloads of this priority.
    func host(after host: String, _ priority: Priority) throws -> String? {
        try read { database in
            try database.first(
                """
                SELECT j.host FROM jobs j INDEXED BY jobs_by_host WHERE j.state = 'queued' AND \(Entry.download.condition)
                    AND j.priority = ? AND j.host > ? ORDER BY j.host LIMIT 1
                """, [.integer(priority.rank), .text(host)]
            ) { $0.text(0) }
        }
    }

    /// How many queued jobs begin in this queue.
    func queuedCount(_ entry: Entry) throws -> Int {
        try read { database in
            try database.first(
                "SELECT COUNT(*) FROM jobs j INDEXED BY \(entry.index) WHERE j.state = 'queued' AND \(entry.condition)"
            ) { $0.integer(0) }
        } ?? 0
    }
}
