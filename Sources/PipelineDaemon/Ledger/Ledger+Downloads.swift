import PipelineModel

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

    /// How many queued jobs begin in this queue.
    func queuedCount(_ entry: Entry) throws -> Int {
        try read { database in
            try database.first(
                "SELECT COUNT(*) FROM jobs j INDEXED BY \(entry.index) WHERE j.state = 'queued' AND \(entry.condition)"
            ) { $0.integer(0) }
        } ?? 0
    }
}
