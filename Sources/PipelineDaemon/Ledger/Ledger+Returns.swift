import Dispatch
import PipelineModel
import SystemCalls

/// Jobs that are brought back. From the commit that says where its original goes (`returns`), to the one that queues it, a job belongs to
/// whoever brings it back: no other does, and no disposal moves its original. What a crash leaves tells where its original is.
extension Ledger {
    struct Return: Sendable {
        var job: Int
        /// Where its original will lie.
        var place: String
    }

    /// Records where originals will be moved, before they are. Returns the jobs that have ended without success, and are brought back by
    /// nobody else. Waits until that is durable.
    func begin(_ returns: [Return]) -> Set<Int> {
        let begun = Handed<Set<Int>>([])
        write(waiting: { database in
            begun.value = []
            for one in returns {
                try database.run(
                    """
                    UPDATE jobs SET returns = ? WHERE id = ? AND returns IS NULL AND state IN ('failed', 'cancelled')
                    """, [.text(one.place), .integer(one.job)])
                if database.changes > 0 { begun.value.insert(one.job) }
            }
        })
        return begun.value
    }

    /// The place was taken: another one.
    func change(_ one: Return) {
        write(waiting: { database in
            try database.run("UPDATE jobs SET returns = ? WHERE id = ?", [.text(one.place), .integer(one.job)])
        })
    }

    /// The job stays as it was.
    func abandonReturn(of job: Int, done: @escaping @Sendable () -> Void) {
        write(
            wanted: .now,
            { database, _ in
                try database.run("UPDATE jobs SET returns = NULL WHERE id = ?", [.integer(job)])
            }, done: done)
    }

    /// Jobs that were being brought back when the daemon ended.
    func returning() throws -> [JobRecord] {
        try jobs(by: "jobs_returning", "WHERE j.returns IS NOT NULL ORDER BY j.id")
    }

    private func write(waiting change: @escaping @Sendable (Database) throws -> Void) {
        let over = DispatchSemaphore(value: 0)
        write(wanted: .now, { database, _ in try change(database) }, done: { over.signal() })
        over.wait()
    }

    // MARK: - What lies where no row says

    /// Jobs that may have lost this file: it has the path and the identity of their original.
    func candidates(forPath path: String, _ file: FileStatus.Identity) throws -> [JobRecord] {
        try jobs(
            by: "jobs_by_path",
            """
            WHERE j.path = ? AND j.inode = ? AND j.size = ? AND j.modified = ? AND j.origin <> 'kept' AND j.state <> 'done'
            ORDER BY j.id DESC
            """, [.text(path), .integer(file.inode), .integer(file.size), .integer(file.modified)])
    }

    /// The original of a job lies here: if the job has ended, it is still to be brought to where it belongs.
    func putRight(_ job: Int, source: String, done: @escaping @Sendable () -> Void) {
        write(
            wanted: .now,
            { database, _ in
                try database.run(
                    "UPDATE jobs SET source = ?, disposed = 0, returns = NULL WHERE id = ?",
                    [.text(source), .integer(job)])
            }, done: done)
    }
}
