import Glibc
import InboxWatching
import PipelineModel
package import SystemCalls
import WorkerPools

/// Checks and opens the folder that a user has named for the originals of undone jobs. A client that adds a URL
/// can choose a file name in that folder. The daemon therefore refuses its own folders, and folders from which programs
/// read their settings.
package enum UndoGoal {
    /// System folders, which are refused even if the daemon's user may write to them.
    private static let system = [
        "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/sbin", "/sys", "/usr", "/var/spool",
    ]

    /// Why the daemon refuses to move originals to a folder; nil if it accepts the folder. The check blocks on the
    /// folder's disk. `own` are folders that the daemon watches or keeps to itself; `tops` are the folders in which the
    /// `own` folders lie.
    package static func refusal(of folder: String, own: [String], tops: [String] = []) -> String? {
        guard folder.hasPrefix("/"), !folder.contains("\0") else {
            return "'\(folder.prefix(200))' is not an absolute path"
        }
        let place = FileSystem.resolved(folder)
        for other in own
        where FileSystem.lies(place, within: other) || FileSystem.lies(place, within: FileSystem.resolved(other)) {
            return "\(folder) lies within \(other), which is the daemon's; name another folder"
        }
        if (tops + ["/"]).contains(where: { place == FileSystem.resolved($0) }) {
            return
                "\(folder) contains folders of the daemon or of the system; make a folder for the originals, and name that"
        }
        if place.utf8.split(separator: UInt8(ascii: "/")).contains(where: { $0.first == UInt8(ascii: ".") }) {
            return "\(folder) lies within a hidden folder, where programs keep their settings; name another folder"
        }
        guard FileSystem.isFolder(place) else {
            return
                "the daemon sees no folder \(folder): it must exist, and neither be in /tmp nor in a home folder, which the "
                + "daemon's unit hides from it"
        }
        if let kind = FileSystemType.withoutFiles(place) {
            return "\(folder) is \(kind), which takes no files; name another folder"
        }
        if let other = system.first(where: { FileSystem.lies(place, within: $0) }) {
            return "\(folder) lies within \(other), where the system keeps its own files; name another folder"
        }
        do throws(SystemError) {
            try FileSystem.checkWritable(place)
            return nil
        } catch {
            let remedy =
                error.code == EROFS
                ? "add it to ReadWritePaths= (`systemctl edit pipelined`), or name another"
                : "let the daemon's user write there, or name another"
            return "the daemon can't write to \(folder): \(error.reason); \(remedy)"
        }
    }
    /// Opens the folder `path` below `goal`, or creates it if it is missing. Follows no links: the recorded goal
    /// contained no links, so if there is a link now, somebody else has placed it there.
    package static func open(_ goal: String, below path: String) throws -> Descriptor {
        do {
            let top = try Descriptor.open("/", O_RDONLY | O_DIRECTORY)
            let folder = try top.openFolder(FileSystem.relative(goal, to: "/"))
            return try folder.makeFolder(path, mode: 0o755, durable: true)
        } catch {
            guard [ELOOP, ENOTDIR, ENOENT].contains(error.code) else { throw error }
            throw JobFailure(
                "\(goal) is no longer the folder that the undo named; put it back, or move the original by hand")
        }
    }
}
