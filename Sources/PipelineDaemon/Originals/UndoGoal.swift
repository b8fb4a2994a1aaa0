import Glibc
import InboxWatching
import JobLedger
import PipelineModel
import SystemCalls

/// The folder that somebody wants originals to be moved to.
enum UndoGoal {
    /// Why it can't take any. It waits for the folder's disk. `own` are folders that the daemon watches, or keeps to
    /// itself.
    static func refusal(of folder: String, own: [String]) -> String? {
        guard folder.hasPrefix("/"), !folder.contains("\0") else {
            return "'\(folder.prefix(200))' is no absolute path"
        }
        let place = FileSystem.resolved(folder)
        for other in own
        where FileSystem.lies(place, within: other) || FileSystem.lies(place, within: FileSystem.resolved(other)) {
            return "\(folder) lies within \(other), which is the daemon's; name another folder"
        }
        guard FileSystem.isFolder(place) else {
            return
                "the daemon sees no folder \(folder): it must exist, and neither be in /tmp nor in a home folder, which the "
                + "daemon's unit hides from it"
        }
        if let kind = FileSystemType.withoutFiles(place) {
            return "\(folder) is \(kind), which takes no files; name another folder"
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
}
