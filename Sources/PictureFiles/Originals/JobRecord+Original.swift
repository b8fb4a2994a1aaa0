import DaemonRuntime
import InboxWatching
import JobModel
import ServiceProgram
import SystemCalls

extension JobRecord {
    /// Whether the file with identity `there` is the job's original, unchanged since it was claimed. Used for files in
    /// folders that other users can reach. The inode proves nothing: a new file may reuse the inode of a removed file,
    /// and a copy or a restored backup has another inode.
    func isUnchangedOriginal(_ there: FileStatus.Identity) -> Bool {
        (there.size, there.modified) == (file.size, file.modified)
    }

    /// Whether the file with identity `there`, in one of the daemon's own folders, is the job's original. Either the
    /// inode must match, or both the size and the modification time. A late writer may have changed the size and the
    /// time. A copy to another file system, a reboot or, on some file systems, a rename may have changed the inode.
    func isOriginalInWork(_ there: FileStatus.Identity) -> Bool {
        there.inode == file.inode || isUnchangedOriginal(there)
    }
}
