package import SystemCalls

/// A file that an inbox has taken and that is about to become a job.
package struct Claim: Sendable {
    package var path: String
    package var source: String
    /// Whether the file stays in the inbox instead of being moved into `.pipelined`.
    package var isKept: Bool
    package var file: FileStatus.Identity
    /// Whether the file becomes a cancelled job, because a client cancelled it while it settled.
    package var cancelled: Bool
    /// The owner of the file.
    package var owner: UInt32

    package var asCancelled: Claim {
        var claim = self
        claim.cancelled = true
        return claim
    }

    /// The name of the folder directly below the inbox that contained the file, or nil.
    package var folder: String? {
        let end = path.utf8.firstIndex(of: UInt8(ascii: "/"))
        return end.map { String(decoding: path.utf8[..<$0], as: UTF8.self) }
    }
}

/// Receives the files that an inbox hands over.
package protocol IntakeSink: AnyObject, Sendable {
    /// Takes over the files. Calls `counted` once they count as jobs, and `done` once the jobs are durable.
    func accept(
        _ claims: [Claim], from inbox: Inbox, counted: @escaping @Sendable () -> Void,
        done: @escaping @Sendable () -> Void)
    /// Called when all files that arrived together in a folder directly below the inbox have been handed over.
    func ended(folder: String, of inbox: Inbox)
    /// Whether a claimed file belongs to an unfinished job.
    func knows(source: String) throws -> Bool
    /// Calls `each` with the name of every file in the folder that belongs to an unfinished job.
    func forEachKnown(in folder: String, _ each: (String) -> Void) throws
    /// Whether any job still needs a file claimed in this inbox.
    func needsClaims(in folder: String) throws -> Bool
    /// Whether a claimed file is the lost original of a job, although the ledger does not contain the file's path. If
    /// so, corrects that job's row.
    func isOriginal(_ source: String, as path: String, _ file: FileStatus.Identity) throws -> Bool
    /// Files in the folder that were taken and must not be taken again.
    func kept(in folder: String) throws -> KeptFiles
    func changed(_ inbox: Inbox)
}

/// The published state of an inbox.
package struct InboxReport: Sendable {
    package var watch = "starting"
    package var settling = 0
    package var ignored = 0
    /// Why each ignored file is skipped, by path.
    package var reasons: [FileSystem.Key: String] = [:]
    /// The most recently ignored files, at most five.
    package var ignoredFiles: [(path: String, reason: String)] = []
    /// The ignored files that need a user's action.
    package var stuck: Set<FileSystem.Key> = []
    package var problem: String?
    /// Whether the problem may be temporary. While the problem lasts, the contents of the inbox are unknown.
    package var isPassing = false
    /// Why no files are taken at the moment, although the inbox itself works.
    package var held: String?
    package var whyNothing: String? { problem ?? held }
    /// One of the stuck files, with its reason.
    package var stuckFile: (path: String, reason: String)? {
        stuck.first.flatMap { key in reasons[key].map { (key.path, $0) } }
    }
    /// Whether the first attempt to open the inbox is over. If so, either the inbox is watched, or `problem` contains
    /// the reason why it is not.
    package var isOpen = false
    /// Whether the first scan is complete.
    package var scanned = false
}
