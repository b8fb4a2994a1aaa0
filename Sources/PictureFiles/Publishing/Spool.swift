import DaemonRuntime

/// The folders of `spool/`: one for each original that `pipectl add` passed, or that is downloaded.
package enum Spool {
    package static func folder(in spool: String) -> String { "\(spool)/\(UUIDName.makeNext())" }

    /// The place for a new download.
    package static func download(in spool: String) -> String { "\(folder(in: spool))/download" }

    /// The place for an original that `pipectl retry` brings back. The folder names the job, because no other copy
    /// exists.
    package static func place(bringingBack job: Int, as name: String, in spool: String) -> String {
        "\(spool)/\(prefix)\(job)/\(name)"
    }

    /// The job whose original is brought back to this folder; nil if the folder belongs to a new original.
    package static func job(broughtBackTo folder: String) -> Int? {
        folder.hasPrefix(prefix) ? Int(folder.dropFirst(prefix.count)) : nil
    }

    private static let prefix = "retry-"

    /// Where a folder's copy is made until it is complete and durable. A start removes copies that a crash has left
    /// there.
    package static func unfinished(_ folder: String) -> String { folder + part }

    package static func isUnfinished(_ folder: String) -> Bool { folder.hasSuffix(part) }

    private static let part = ".part"
}
