import ServiceProgram

/// The folders of `spool/`. Each contains one original, which is a download or a file that `pipectl add` passed.
package enum Spool {
    package static func folder(in spool: String) -> String { "\(spool)/\(UUIDName.makeNext())" }

    /// The path for a new download.
    package static func download(in spool: String) -> String { "\(folder(in: spool))/download" }

    /// The path to which `pipectl retry` brings back an original. The original has no other copy. The folder's name
    /// contains the job's ID, so that the next start of the daemon can find the original's job after a crash.
    package static func place(bringingBack job: Int, as name: String, in spool: String) -> String {
        "\(spool)/\(prefix)\(job)/\(name)"
    }

    /// The job whose original is brought back to this folder; nil for the folder of a new original.
    package static func job(broughtBackTo folder: String) -> Int? {
        folder.hasPrefix(prefix) ? Int(folder.dropFirst(prefix.count)) : nil
    }

    private static let prefix = "retry-"

    /// The temporary name of a spool folder, until the copy in it is complete and durable. If a crash leaves an
    /// incomplete copy, the next start removes it.
    package static func unfinished(_ folder: String) -> String { folder + part }

    package static func isUnfinished(_ folder: String) -> Bool { folder.hasSuffix(part) }

    private static let part = ".part"
}
