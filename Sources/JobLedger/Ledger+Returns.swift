import Dispatch
package import JobModel
package import PipelineModel
import Synchronization
package import SystemCalls

/// Brings ended jobs back for another attempt, in two commits. The first commit records the target path of the original
/// (`returns`), the second queues the job. Between the commits, `returns` reserves the job: no other thread brings it
/// back, and no disposal moves its original. After a crash, `returns` shows where the original may be.
extension Ledger {
    package struct Return: Sendable {
        var job: Int
        /// The target path of the original.
        var place: String
        /// The job's state when the caller read it. If the state differs by now, another thread has brought the job
        /// back.
        var state: JobState
        /// The original's current identity, which has changed if a user has repaired the file.
        var file: FileStatus.Identity

        package init(job: Int, place: String, state: JobState, file: FileStatus.Identity) {
            (self.job, self.place, self.state, self.file) = (job, place, state, file)
        }
    }

    /// Records the target paths of originals before they move, and clears the publish intents of their jobs. Returns
    /// the IDs of the jobs recorded. Leaves out jobs that another thread is bringing back. Blocks until the record is
    /// durable.
    package nonisolated func begin(_ returns: [Return]) -> Set<Int> {
        wait(isAsked: true, refused: []) { ledger in
            var begun: Set<Int> = []
            for one in returns {
                try ledger.writer.run(
                    """
                    UPDATE jobs SET returns = \(one.place), intent = NULL, device = \(one.file.device),
                        inode = \(one.file.inode), size = \(one.file.size), modified = \(one.file.modified)
                    WHERE id = \(one.job) AND state = \(one.state) AND returns IS NULL AND removed IS NULL
                    """)
                if ledger.writer.changes > 0 { begun.insert(one.job) }
            }
            return begun
        }
    }

    /// Records another target path, because the first path is taken.
    package nonisolated func changeReturn(of job: Int, to place: String) {
        wait(refused: ()) { try $0.writer.run("UPDATE jobs SET returns = \(place) WHERE id = \(job)") }
    }

    /// Abandons bringing the job back; the job keeps its state. Blocks until the change is durable.
    package nonisolated func abandonReturn(of job: Int) {
        wait(refused: ()) { try $0.writer.run("UPDATE jobs SET returns = NULL WHERE id = \(job)") }
    }

    /// Returns the jobs that the daemon was bringing back when it stopped.
    package nonisolated func returning() throws -> [JobRecord] {
        try jobs(by: "jobs_returning", "WHERE j.returns IS NOT NULL ORDER BY j.id")
    }

    /// Applies `change`, blocks until the change is durable, and returns its answer. Returns `refused` if the ledger
    /// drops the change.
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

    // MARK: - Originals at unrecorded paths

    /// Returns the jobs whose original may be this file, because their rows record the same path and identity.
    package nonisolated func candidates(forPath path: String, _ file: FileStatus.Identity) throws -> [JobRecord] {
        try jobs(
            by: "jobs_by_path",
            """
            WHERE j.path = \(path) AND j.inode = \(file.inode) AND j.size = \(file.size) AND j.modified = \(file.modified)
                AND j.origin <> 'kept' ORDER BY j.id DESC
            """)
    }

    /// Records the path at which the job's original was found, and marks the job as not over. If the job has ended, its
    /// disposal then moves the original from that path to its final place. Blocks until the record is durable, because
    /// until then the daemon could report to a waiting client that the job is over.
    package nonisolated func putRight(_ job: Int, source: String) {
        wait(refused: ()) {
            try $0.writer.run(
                "UPDATE jobs SET source = \(source), disposed = 0, returns = NULL, removed = NULL WHERE id = \(job)")
        }
    }
}
