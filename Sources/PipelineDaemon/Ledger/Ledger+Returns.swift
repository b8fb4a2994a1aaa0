import Dispatch
import PipelineModel
import SystemCalls

/// Jobs that are brought back. A commit records where the original goes (`returns`), a later one queues the job. In
/// between the job belongs to whoever brings it back: nobody else does, and no disposal moves its original. After a
/// crash the row tells where the original is.
extension Ledger {
    struct Return: Sendable {
        var job: Int
        /// Where its original will lie.
        var place: String
    }

    /// Records where originals will be moved, before they are, and that nothing of the jobs is published. Returns the jobs
    /// that failed or were cancelled and that nobody else brings back. Blocks until the record is durable.
    func begin(_ returns: [Return]) -> Set<Int> {
        let begun = Handed<Set<Int>>([])
        write(waiting: { database in
            begun.value = []
            for one in returns {
                try database.run(
                    """
                    UPDATE jobs SET returns = ?, intent = NULL
                    WHERE id = ? AND returns IS NULL AND state IN ('failed', 'cancelled')
                    """, [.text(one.place), .integer(one.job)])
                if database.changes > 0 { begun.value.insert(one.job) }
            }
        })
        return begun.value
    }

    /// Records another place: the first was taken.
    func change(_ one: Return) {
        write(waiting: { database in
            try database.run("UPDATE jobs SET returns = ? WHERE id = ?", [.text(one.place), .integer(one.job)])
        })
    }

    /// Gives the return up: the job stays as it was. Blocks until that is durable.
    func abandonReturn(of job: Int) {
        write(waiting: { database in
            try database.run("UPDATE jobs SET returns = NULL WHERE id = ?", [.integer(job)])
        })
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

    /// Jobs that may have lost this file: their original had this path and identity.
    func candidates(forPath path: String, _ file: FileStatus.Identity) throws -> [JobRecord] {
        try jobs(
            by: "jobs_by_path",
            """
            WHERE j.path = ? AND j.inode = ? AND j.size = ? AND j.modified = ? AND j.origin <> 'kept' ORDER BY j.id DESC
            """, [.text(path), .integer(file.inode), .integer(file.size), .integer(file.modified)])
    }

    /// Records where the original of a job was found. The disposal of an ended job moves it from there. Blocks until
    /// the record is durable: nobody who waits meanwhile takes the job for over.
    func putRight(_ job: Int, source: String) {
        write(waiting: { database in
            try database.run(
                "UPDATE jobs SET source = ?, disposed = 0, returns = NULL WHERE id = ?",
                [.text(source), .integer(job)])
        })
    }
}
