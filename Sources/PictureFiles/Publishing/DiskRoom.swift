import Glibc
package import SystemCalls

/// The capacity and free space of a file system: bytes, and files (inodes).
package struct DiskRoom: Sendable {
    /// Capacity in bytes.
    private let bytes: Int64
    /// `usable` is the number of bytes that the daemon's user can fill, including the bytes already used; `free` is the
    /// number of bytes that are still free.
    package let usable: Int64
    package let free: Int64
    private let files: Int64
    private let filesLeft: Int64

    /// Reads the values of the file system that contains the folder.
    package init(in folder: String) throws(SystemError) {
        var status = statvfs()
        guard uninterrupted({ statvfs(folder, &status) }) == 0 else { throw SystemError("statvfs", folder) }
        bytes = Int64(clamping: UInt64(status.f_blocks) * UInt64(status.f_frsize))
        free = Int64(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
        let used = status.f_blocks - min(status.f_bfree, status.f_blocks)
        usable = free + Int64(clamping: UInt64(used) * UInt64(status.f_frsize))
        files = Int64(clamping: status.f_files)
        filesLeft = Int64(clamping: status.f_favail)
    }

    /// Bytes that must be free before waiting work continues: the larger of two amounts. The first is `FreeSpace=`, but
    /// at most a tenth of the file system. The second is twice the number of bytes that the job had written.
    package func wanted(written: Int64, freeSpace: Int64) -> Int64 {
        max(2 * written, bytes > 0 ? min(freeSpace, bytes / 10) : freeSpace)
    }

    /// Whether too few files can still be created. A file system that reports 0 files in all has no such limit.
    private var lacksFiles: Bool { files > 0 && filesLeft < max(1, min(64, files / 10)) }

    /// Describes the condition for which the work waits.
    package func awaited(written: Int64, freeSpace: Int64) -> String {
        if lacksFiles {
            return "files are removed there: its file system has room for \(filesLeft) more, whatever their size"
        }
        let wanted = wanted(written: written, freeSpace: freeSpace)
        let awaited = "\(wanted >> 10) KB are free there"
        return bytes == 0 || wanted <= bytes
            ? awaited : "\(awaited), but it has only \(bytes >> 10) KB in all: make it larger"
    }

    /// Throws if there is too little space. Tests this by reserving the wanted number of bytes in a temporary file.
    package static func check(in folder: String, written: Int64, freeSpace: Int64) throws(SystemError) {
        try FileSystem.makeFolders(folder)
        let room = try DiskRoom(in: folder)
        // A count of 0 free files proves nothing, because some file systems do not count files. In that case, the
        // temporary file of `checkRoom` decides.
        guard room.filesLeft == 0 || !room.lacksFiles else { throw SystemError("make a file in", folder, code: ENOSPC) }
        let wanted = room.wanted(written: written, freeSpace: freeSpace)
        try FileSystem.checkRoom(for: wanted, in: folder)
    }

    package static func isEnough(in folder: String, written: Int64, freeSpace: Int64) -> Bool {
        (try? check(in: folder, written: written, freeSpace: freeSpace)) != nil
    }
}
