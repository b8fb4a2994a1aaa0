import Glibc
package import SystemCalls

/// The capacity and free space of a file system: bytes, and files (inodes).
package struct DiskRoom: Sendable {
    /// Capacity.
    private let bytes: Int64
    /// Bytes that this user may fill, and how many of them are free.
    package let usable: Int64
    package let free: Int64
    private let files: Int64
    private let filesLeft: Int64

    /// Reads the room of a folder's file system.
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

    /// Bytes that must be free before work goes on: `FreeSpace=`, but at most a tenth of the file system; or twice the
    /// bytes that the job had written, if that is more.
    package func wanted(written: Int64, freeSpace: Int64) -> Int64 {
        max(2 * written, bytes > 0 ? min(freeSpace, bytes / 10) : freeSpace)
    }

    /// Some file systems have no limit on files, and report 0.
    private var lacksFiles: Bool { files > 0 && filesLeft < max(1, min(64, files / 10)) }

    /// Describes the event that the work waits for.
    package func hope(written: Int64, freeSpace: Int64) -> String {
        if lacksFiles {
            return "files are removed there: its file system has room for \(filesLeft) more, whatever their size"
        }
        let wanted = wanted(written: written, freeSpace: freeSpace)
        let hope = "\(wanted >> 10) KB are free there"
        return bytes == 0 || wanted <= bytes
            ? hope : "\(hope), but it has only \(bytes >> 10) KB in all: make it larger"
    }

    /// Throws if there is too little space, which it tests with a file of that size.
    package static func check(in folder: String, written: Int64, freeSpace: Int64) throws(SystemError) {
        try FileSystem.makeFolders(folder)
        let room = try DiskRoom(in: folder)
        // If the count says that no files are left, the file made below decides: some file systems do not count files.
        guard room.filesLeft == 0 || !room.lacksFiles else { throw SystemError("make a file in", folder, code: ENOSPC) }
        let wanted = room.wanted(written: written, freeSpace: freeSpace)
        try FileSystem.checkRoom(for: wanted, in: folder)
    }

    package static func isEnough(in folder: String, written: Int64, freeSpace: Int64) -> Bool {
        (try? check(in: folder, written: written, freeSpace: freeSpace)) != nil
    }
}
