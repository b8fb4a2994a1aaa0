import JobLedger
import PipelineModel
import SystemCalls

/// A file that has been taken from an inbox, on its way to becoming a job.
struct Claim: Sendable {
    var path: String
    var source: String
    var origin: JobRecord.Origin
    var file: FileStatus.Identity
    /// `cancel-all` came while it settled: it becomes a job that is cancelled.
    var cancelled: Bool
}

/// Where an inbox hands its files over.
protocol IntakeSink: AnyObject, Sendable {
    /// `counted` when they count as jobs, `done` when these are durable.
    func accept(
        _ claims: [Claim], from inbox: Inbox, counted: @escaping @Sendable () -> Void,
        done: @escaping @Sendable () -> Void)
    /// Whether a claimed file belongs to a job that is still to be done.
    func knows(source: String) throws -> Bool
    /// Whether a job still needs what was claimed in an inbox.
    func needsClaims(in folder: String) throws -> Bool
    /// Whether a claimed file without a row is the original that a job has lost. If so, the job has it again.
    func isOriginal(_ source: String, as path: String, _ file: FileStatus.Identity) throws -> Bool
    /// Files in the folder that were taken, and are not to be taken again.
    func kept(in folder: String) throws -> KeptFiles
    /// Something of the inbox's report has changed.
    func changed(_ inbox: Inbox)
}

/// What an inbox says of itself.
struct InboxReport: Sendable {
    var watch = "starting"
    var settling = 0
    var ignored = 0
    /// Why each of them is left alone.
    var reasons: [FileSystem.Key: String] = [:]
    /// The latest few.
    var ignoredFiles: [(path: String, reason: String)] = []
    var problem: String?
    /// Why nothing is taken at the moment, though the inbox itself is well.
    var held: String?
    /// Either of the two.
    var whyNothing: String? { problem ?? held }
    /// It is watched, or it is known why it is not.
    var isOpen = false
    /// Everything that was there at the start has been looked at.
    var scanned = false
}
