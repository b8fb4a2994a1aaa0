package import DaemonRuntime
package import JobModel
package import PipelineModel
package import SystemCalls

/// Accepts files and lists of URLs from clients.
@Coordination
package protocol Adding {
    /// Whether the daemon is stopping, and accepts no more files.
    var isStopping: Bool { get }
    /// Creates an unnamed empty file, into which a client writes a picture of this size.
    func makeFile(bytes: Int64, done: @escaping @Sendable (Result<Descriptor, AddingFailure>) -> Void)
    /// Copies the file, and creates its job. The job's results go to the subfolder `folder` of the outbox. Blocks on
    /// the disks.
    nonisolated func add(
        _ file: Descriptor, named name: String, in folder: String?, _ terms: AddingTerms,
        done: @escaping @Sendable (Result<JobRecord, AddingFailure>) -> Void)
    /// Reads the list, and creates its jobs. The log names `peer` as the client. Blocks on the list's disk.
    nonisolated func add(
        list file: Descriptor, named name: String?, _ terms: AddingTerms,
        done: @escaping @Sendable (Result<AddedJobs, AddingFailure>) -> Void)
    /// Why an inbox of the recipe would skip a file of this name; nil if it would accept the file.
    nonisolated func reasonForLeaving(_ name: String, by recipe: Recipe) -> String?
}

/// How the jobs that a client adds are processed.
package struct AddingTerms: Sendable {
    package var order: WorkOrder
    /// The batch to join, if any.
    package var batch: Int?
    package var after: [Int]
    package var anyway: Bool
    package var priority: Priority?
    /// A description of the client, for the log and the jobs' events.
    package var peer: String
    /// The ID of the client's user.
    package var owner: Int

    package init(
        order: WorkOrder, batch: Int?, after: [Int], anyway: Bool, priority: Priority?, peer: String, owner: Int
    ) {
        (self.order, self.batch, self.after, self.anyway) = (order, batch, after, anyway)
        (self.priority, self.peer, self.owner) = (priority, peer, owner)
    }
}

/// The jobs of a list, with consecutive IDs.
package typealias AddedJobs = (batch: Int, first: Int, last: Int)

package enum AddingFailure: Error {
    /// The file or list can't become a job.
    case unfit(String)
    /// The file or list can't be added now.
    case failed(String)
    /// The job can't have the requested dependencies.
    case needs(NeedsAnswer, job: Int)
}
