import Dispatch
package import PipelineModel
import Synchronization
package import SystemCalls

/// Jobs that are brought back. A commit records where the original goes (`returns`), a later one queues the job. In
/// between the job belongs to the thread that brings it back: nothing else brings it back, and no disposal moves its
/// original. After a crash the row tells where the original is.
extension Ledger {
    package struct Return: Sendable {
        var job: Int
        /// The place where its original will lie.
        var place: String
        /// Somebody else brings back a job that is in another state by now.
        var state: JobState
        /// The original as it is now: its user may have mended it.
        var file: FileStatus.Identity

        package init(job: Int, place: String, state: JobState, file: FileStatus.Identity) {
            (self.job, self.place, self.state, self.file) = (job, place, state, file)
        }
    }

    /// Records where originals will be moved, before they are, and that nothing is being published of the jobs. Returns
    /// the jobs that nobody else brings back. Blocks until the record is durable.
    package nonisolated func begin(_ returns: [Return]) -> Set<Int> {
        wait(isAsked: true, refused: []) { ledger in
            var begun: Set<Int> = []
            for one in returns {
                try ledger.writer.run(
                    """
                    UPDATE jobs SET returns = ?, intent = NULL, device = ?, inode = ?, size = ?, modified = ?
                    WHERE id = ? AND state = ? AND returns IS NULL AND removed IS NULL
                    """,
                    [
                        .text(one.place), .integer(one.file.device), .integer(one.file.inode), .integer(one.file.size),
                        .integer(one.file.modified), .integer(one.job), .text(one.state.rawValue),
                    ])
                if ledger.writer.changes > 0 { begun.insert(one.job) }
            }
            return begun
        }
    }

    /// Records another place: the first was taken.
    package nonisolated func changeReturn(of job: Int, to place: String) {
        wait(refused: ()) {
            try $0.writer.run("UPDATE jobs SET returns = ? WHERE id = ?", [.text(place), .integer(job)])
        }
    }

    /// Gives the return up: the job stays as it was. Blocks until that is durable.
    package nonisolated func abandonReturn(of job: Int) {
        wait(refused: ()) { try $0.writer.run("UPDATE jobs SET returns = NULL WHERE id = ?", [.integer(job)]) }
    }

    /// Jobs that were being brought back when the daemon ended.
    package nonisolated func returning() throws -> [JobRecord] {
        try jobs(by: "jobs_returning", "WHERE j.returns IS NOT NULL ORDER BY j.id")
    }

    /// Blocks until the change is durable.
    nonisolated func wait<Answer: Sendable>(
        isAsked: Bool = false, refused: Answer, for change: @escaping @Sendable (isolated Ledger) throws -> Answer
    ) -> Answer {
        let over = DispatchSemaphore(value: 0)
        let answer = Mutex(refused)
        write(isAsked: isAsked, refused: refused, change) { made in
            answer.withLock { $0 = made }
            over.signal()
        }
        over.wait()
        return answer.withLock { $0 }
    }

    // MARK: - Originals that lie where no row says

    /// Jobs that may have lost this file: their original had this path and identity.
    package nonisolated func candidates(forPath path: String, _ file: FileStatus.Identity) throws -> [JobRecord] {
        try jobs(
            by: "jobs_by_path",
            """
            WHERE j.path = ? AND j.inode = ? AND j.size = ? AND j.modified = ? AND j.origin <> 'kept' ORDER BY j.id DESC
            """, [.text(path), .integer(file.inode), .integer(file.size), .integer(file.modified)])
    }

    /// Records where the original of a job was found. The disposal of an ended job moves it from there. Blocks until
    /// the record is durable, so that nobody who waits meanwhile takes the job for over.
    package nonisolated func putRight(_ job: Int, source: String) {
        wait(refused: ()) {
            try $0.writer.run(
                "UPDATE jobs SET source = ?, disposed = 0, returns = NULL, removed = NULL WHERE id = ?",
                [.text(source), .integer(job)])
        }
    }
}
