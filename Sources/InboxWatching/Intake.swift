package import SystemCalls

/// A file that has been taken from an inbox, on its way to becoming a job.
package struct Claim: Sendable {
    package var path: String
    package var source: String
    /// The file stays in its place.
    package var isKept: Bool
    package var file: FileStatus.Identity
    /// `cancel-all` came while it settled, so it becomes a job that is cancelled.
    package var cancelled: Bool

    package var asCancelled: Claim {
        var claim = self
        claim.cancelled = true
        return claim
    }

    /// The folder right below the inbox that it lay in, or nil.
    package var folder: String? {
        let end = path.utf8.firstIndex(of: UInt8(ascii: "/"))
        return end.map { String(decoding: path.utf8[..<$0], as: UTF8.self) }
    }
}

/// Takes the files that an inbox hands over.
package protocol IntakeSink: AnyObject, Sendable {
    /// Calls `counted` when the files count as jobs, and `done` when these are durable.
    func accept(
        _ claims: [Claim], from inbox: Inbox, counted: @escaping @Sendable () -> Void,
        done: @escaping @Sendable () -> Void)
    /// The files that came together into this folder, right below the inbox, have been handed over.
    func ended(folder: String, of inbox: Inbox)
    /// Whether a claimed file belongs to a job that is still to be done.
    func knows(source: String) throws -> Bool
    /// Calls `each` with the names of the files in a folder that belong to such jobs.
    func forEachKnown(in folder: String, _ each: (String) -> Void) throws
    /// Whether a job still needs a file that was claimed in this inbox.
    func needsClaims(in folder: String) throws -> Bool
    /// Whether a claimed file without a row is the original that a job has lost. If so, the job has it again.
    func isOriginal(_ source: String, as path: String, _ file: FileStatus.Identity) throws -> Bool
    /// Files in the folder that were taken, and are not to be taken again.
    func kept(in folder: String) throws -> KeptFiles
    func changed(_ inbox: Inbox)
}

/// The state of an inbox, for others.
package struct InboxReport: Sendable {
    package var watch = "starting"
    package var settling = 0
    package var ignored = 0
    /// The reason why each of them is left alone.
    package var reasons: [FileSystem.Key: String] = [:]
    /// The latest few of them.
    package var ignoredFiles: [(path: String, reason: String)] = []
    /// Files among them that the daemon can't take, until a person acts.
    package var stuck: Set<FileSystem.Key> = []
    package var problem: String?
    /// The problem passes by itself. Until then nobody knows which files lie in the inbox.
    package var isPassing = false
    /// The reason why nothing is taken at the moment, though the inbox itself is well.
    package var held: String?
    package var whyNothing: String? { problem ?? held }
    /// One of the stuck files, with the reason.
    package var stuckFile: (path: String, reason: String)? {
        stuck.first.flatMap { key in reasons[key].map { (key.path, $0) } }
    }
    /// It is watched, or the reason why it is not is known.
    package var isOpen = false
    /// Everything that was there at the start has been looked at.
    package var scanned = false
}
