import Dispatch
package import PipelineModel
import Synchronization
package import SystemCalls

/// Bringing jobs back. One commit records the target of the original (`returns`), a later one queues the job. In
/// between the job belongs to the thread that brings it back: no other thread does so, and no disposal moves its
/// original. After a crash the row shows where the original is.
extension Ledger {
    package struct Return: Sendable {
        var job: Int
        /// The target of its original.
        var place: String
        /// The state that the caller saw. In any other state by now, another thread brings the job back.
        var state: JobState
        /// The original's current identity: its user may have repaired it.
        var file: FileStatus.Identity

        package init(job: Int, place: String, state: JobState, file: FileStatus.Identity) {
            (self.job, self.place, self.state, self.file) = (job, place, state, file)
        }
    }

    /// Records the targets of originals before they move, and clears the jobs' publish intents. Returns the jobs that
    /// no other thread brings back. Blocks until the record is durable.
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

    /// Records another target, because the first one exists already.
    package nonisolated func changeReturn(of job: Int, to place: String) {
        wait(refused: ()) {
            try $0.writer.run("UPDATE jobs SET returns = ? WHERE id = ?", [.text(place), .integer(job)])
        }
    }

    /// Abandons the return; the job stays as it was. Blocks until the change is durable.
    package nonisolated func abandonReturn(of job: Int) {
        wait(refused: ()) { try $0.writer.run("UPDATE jobs SET returns = NULL WHERE id = ?", [.integer(job)]) }
    }

    /// Jobs whose return was interrupted when the daemon ended.
    package nonisolated func returning() throws -> [JobRecord] {
        try jobs(by: "jobs_returning", "WHERE j.returns IS NOT NULL ORDER BY j.id")
    }

    /// Applies `change` and blocks until it is durable.
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

    // MARK: - Originals at paths that no row has

    /// Jobs that may have lost this file: their originals had the same path and identity.
    package nonisolated func candidates(forPath path: String, _ file: FileStatus.Identity) throws -> [JobRecord] {
        try jobs(
            by: "jobs_by_path",
            """
            WHERE j.path = ? AND j.inode = ? AND j.size = ? AND j.modified = ? AND j.origin <> 'kept' ORDER BY j.id DESC
            """, [.text(path), .integer(file.inode), .integer(file.size), .integer(file.modified)])
    }

    /// Records where a job's original was found; the disposal of an ended job moves it from there. Blocks until the
    /// record is durable, so that a client that waits does not see the job as over.
    package nonisolated func putRight(_ job: Int, source: String) {
        wait(refused: ()) {
            try $0.writer.run(
                "UPDATE jobs SET source = ?, disposed = 0, returns = NULL, removed = NULL WHERE id = ?",
                [.text(source), .integer(job)])
        }
    }
}
