package import DaemonRuntime
package import JobModel

/// Processes done jobs again, or undoes them. If `asking` is true, a call changes nothing, and `done` gets the outcome
/// that a real call would have.
@Coordination
package protocol DoneJobSteering {
    func redo(_ choice: DoneChoice, asking: Bool, done: @escaping Done<DoneOutcome>)
    /// Removes the jobs' results, and moves the jobs' originals to `cancelled/`, or to `goal`.
    func undo(_ choice: DoneChoice, to goal: String?, asking: Bool, done: @escaping Done<DoneOutcome>)
    /// Checks the folder that originals will be moved to. Calls `done` with the folder's resolved path, and with a
    /// reason if the folder is refused.
    func checkGoal(
        _ goal: String?, done: @escaping @Coordination @Sendable (_ place: String?, _ refusal: String?) -> Void)
    /// Converts a path in the archive to the spelling of the recorded paths. Blocks on the disk.
    nonisolated func archivePath(_ path: String) -> String
    /// The number of files in the archive, at or below `path`, that belong to no job. Blocks on the disk.
    nonisolated func unknownOriginals(at path: String) throws -> Int
}

package enum DoneChoice: Sendable {
    case these([Int])
    case all(JobFilter)
}

/// The outcome of a redo or an undo. `ids` are the changed jobs; if the caller only asks, `ids` are the jobs that would
/// be changed.
package struct DoneOutcome: Sendable {
    package var ids: [Int] = []
    package var refused = Tally()
    /// Warnings about jobs that were not refused.
    package var remarks = Tally()
    /// The read error that stopped the search for jobs early.
    package var unread: (any Error)?

    package init() {}
}
