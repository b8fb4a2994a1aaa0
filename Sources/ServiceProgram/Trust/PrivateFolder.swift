import Glibc
package import SystemCalls

/// A folder for the daemon alone, inside a folder where other users may write.
package enum PrivateFolder {
    /// Creates the folder, unless the name exists already.
    package static func make(_ name: String, in above: Descriptor, at path: String) throws(SystemError) {
        guard uninterrupted({ mkdirat(above.number, name, 0o700) }) == 0 || errno == EEXIST else {
            throw SystemError("mkdir", path)
        }
    }

    /// Opens the folder. Throws unless the folder belongs to the daemon's user or to root, and nobody else may write in
    /// it.
    package static func open(_ name: String, in above: Descriptor, at path: String) throws -> Descriptor {
        let folder: Descriptor
        do {
            folder = try above.open(name, O_RDONLY | O_DIRECTORY)
        } catch {
            guard error.code == ELOOP || error.code == ENOTDIR else {
                throw SystemError(error.call, path, code: error.code)
            }
            throw UnsafeFolder(description: "\(path) is not a folder: somebody has put that there; remove it")
        }
        var status = FileStatus(try folder.status())
        guard status.owner == geteuid() || status.owner == 0 || isOurs(status.owner, in: above) else {
            throw UnsafeFolder(
                description: "\(path) belongs to user \(User.name(status.owner)), not to \(User.current): another "
                    + "pipelined works here, or somebody has put it there; give the recipe another folder, or move that "
                    + "one away")
        }
        guard status.device == FileStatus(try above.status()).device else {
            throw UnsafeFolder(description: "\(path) is another file system than the folder it lies in; unmount it")
        }
        if status.isWritableByOthers {
            // If the folder has an ACL, the group's mode bits are the ACL's mask, so the new mode limits the ACL as
            // well.
            _ = fchmod(folder.number, 0o700)
            status = FileStatus(try folder.status())
        }
        guard !status.isWritableByOthers else {
            throw UnsafeFolder(
                description: "others may write in \(path) (its mode is \(String(status.mode & 0o7777, radix: 8))); "
                    + "`chmod 700` it, or mount its file system with umask=022 if it keeps no modes")
        }
        return folder
    }

    /// Whether files that the daemon creates in `above` get this owner. On a mount that maps user numbers, the owner of
    /// a new file differs from the process's user.
    private static func isOurs(_ owner: UInt32, in above: Descriptor) -> Bool {
        let name = ".pipelined-\(UUIDName.make())"
        guard mkdirat(above.number, name, 0o700) == 0 else { return false }
        defer { unlinkat(above.number, name, AT_REMOVEDIR) }
        return (try? FileSystem.status(name, in: above))?.owner == owner
    }
}

extension FileStatus {
    /// Whether the group, everybody, or a user or group in the ACL may write. If a file has an ACL, the group's bits of
    /// its mode are the ACL's mask, so it is enough to check the mode.
    fileprivate var isWritableByOthers: Bool { mode & 0o022 != 0 }
}
