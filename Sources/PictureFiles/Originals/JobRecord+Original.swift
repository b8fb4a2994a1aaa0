import DaemonRuntime
import InboxWatching
import JobLedger
import SystemCalls

extension JobRecord {
    /// Whether this file, which others can reach, is the job's original with the bytes that were claimed. Its inode says
    /// nothing: another file may have the number of one that was removed, and a copy or a restored backup has another.
    func isUnchangedOriginal(_ there: FileStatus.Identity) -> Bool {
        (there.size, there.modified) == (file.size, file.modified)
    }

    /// Whether this file is the job's original on its way through the daemon's own folders. A late writer may have changed
    /// its bytes, and a copy to another file system, a reboot, or on some file systems a rename, its inode.
    func isOriginalInWork(_ there: FileStatus.Identity) -> Bool {
        there.inode == file.inode || isUnchangedOriginal(there)
    }

    /// It was a file that lists others.
    package var isList: Bool { url == nil && origin != .spooled && FileNames.isList(path) }
}

extension JobRecord.Removal {
    /// `removed by Keep Archive=90d on 2026-03-01 09:30:00`
    package var text: String { "removed by \(by) on \(Timestamp.dated(time))" }
}
