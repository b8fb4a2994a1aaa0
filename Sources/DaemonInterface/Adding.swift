package import DaemonRuntime
package import JobModel
package import PipelineModel
package import SystemCalls

/// Takes in files and lists of URLs from clients.
@Coordination
package protocol Adding {
    /// Whether the daemon stops, and takes in nothing.
    var isStopping: Bool { get }
    /// Makes an unnamed empty file for a client that wants to add a picture of this size.
    func makeFile(bytes: Int64, done: @escaping @Sendable (Result<Descriptor, AddingFailure>) -> Void)
    /// Copies the file, and enters its job. Blocks on the disks.
    nonisolated func add(
        _ file: Descriptor, _ wish: AddedFile, done: @escaping @Sendable (Result<JobRecord, AddingFailure>) -> Void)
    /// Reads the list, and enters its jobs. Blocks on the list's disk.
    nonisolated func add(
        list file: Descriptor, _ wish: AddedList, done: @escaping @Sendable (Result<AddedJobs, AddingFailure>) -> Void)
    /// Why an inbox of the recipe would skip files of this name, or nil.
    nonisolated func reasonForLeaving(_ name: String, by recipe: Recipe) -> String?
}

/// A client's request to process a file that it passes.
package struct AddedFile: Sendable {
    package var name: String
    /// The subfolder of the outbox for the results.
    package var folder: String?
    package var order: WorkOrder
    package var batch: Int?
    package var after: [Int]
    package var anyway: Bool
    package var priority: Priority?

    package init(
        name: String, folder: String? = nil, order: WorkOrder, batch: Int? = nil, after: [Int], anyway: Bool,
        priority: Priority? = nil
    ) {
        (self.name, self.folder, self.order, self.batch) = (name, folder, order, batch)
        (self.after, self.anyway, self.priority) = (after, anyway, priority)
    }

    package var path: String { folder.map { FileSystem.join($0, name) } ?? name }
}

/// A client's request to process the URLs of a list.
package struct AddedList: Sendable {
    package var name: String?
    package var order: WorkOrder
    /// The batch to join; nil for a new one.
    package var batch: Int?
    package var after: [Int]
    package var anyway: Bool
    package var priority: Priority?
    /// The client, for the log.
    package var peer: String

    package init(
        name: String?, order: WorkOrder, batch: Int?, after: [Int], anyway: Bool, priority: Priority?, by peer: String
    ) {
        (self.name, self.order, self.batch, self.after) = (name, order, batch, after)
        (self.anyway, self.priority, self.peer) = (anyway, priority, peer)
    }
}

/// The jobs of a list, with consecutive IDs.
package struct AddedJobs: Sendable {
    package var batch: Int
    package var first: Int
    package var last: Int

    package init(batch: Int, first: Int, last: Int) { (self.batch, self.first, self.last) = (batch, first, last) }
}

package enum AddingFailure: Error {
    /// No job can be made from this.
    case unfit(String)
    /// It can't be added now.
    case failed(String)
    /// The requested dependencies of the job are not possible.
    case needs(NeedsAnswer, job: Int)
}
