import CLinux
import Glibc

/// Renames that never replace a file. With the flag `RENAME_NOREPLACE`, one call suffices. But NFS and some FUSE file
/// systems lack the flag, and some of these file systems lack hard links as well.
extension FileSystem {
    /// Renames a file; fails with `EEXIST` if the target exists. Both paths may be relative to open folders. `own`
    /// promises that no other program creates files in the target's folder. With that promise, a check before the
    /// rename suffices on a file system without the flag.
    public static func renameWithoutReplacing(
        _ from: String, in folder: Descriptor? = nil, _ to: String, in target: Descriptor? = nil,
        inOwn own: Bool = false
    ) throws(SystemError) {
        if uninterrupted({ clinux_rename_noreplace(place(folder), from, place(target), to) }) == 0 { return }
        var error = SystemError("rename", to)
        if [EINVAL, ENOSYS, EOPNOTSUPP].contains(error.code) {
            if own {
                guard try status(to, in: target) == nil else { throw SystemError("rename", to, code: EEXIST) }
                return try rename(from, in: folder, to, in: target)
            }
            if uninterrupted({ linkat(place(folder), from, place(target), to, 0) }) == 0 {
                return try remove(from, in: folder)
            }
            error = SystemError("link", to)
            // The file system has no hard links, or the kernel forbids links to another user's file.
            if [EPERM, ENOSYS, EOPNOTSUPP, EINVAL].contains(error.code) {
                return try renameOverPlaceholder(from, in: folder, to, in: target)
            }
        }
        // If both names belong to one file, an earlier call crashed after linking the new name: remove the old name.
        guard error.code == EEXIST, try isSame(from, in: folder, to, in: target) else { throw error }
        try remove(from, in: folder)
    }

    /// Exchanges two files atomically. Returns false if the file system does not support the exchange.
    public static func exchange(_ one: String, _ other: String) throws(SystemError) -> Bool {
        if uninterrupted({ clinux_rename_exchange(one, other) }) == 0 { return true }
        let error = SystemError("rename", other)
        guard [EINVAL, ENOSYS, EOPNOTSUPP].contains(error.code) else { throw error }
        return false
    }

    /// Reserves the name with an empty file, so that the rename replaces no other file.
    private static func renameOverPlaceholder(
        _ from: String, in folder: Descriptor?, _ to: String, in target: Descriptor?
    ) throws(SystemError) {
        let made = clinux_create_at(place(target), to, placeholderMode)
        guard made >= 0 else { throw SystemError("open", to) }
        close(made)
        do throws(SystemError) {
            try rename(from, in: folder, to, in: target)
        } catch {
            // The rename may have succeeded despite the error. In that case, `to` is the renamed file, which must not
            // be removed.
            if (try? isPlaceholder(to, in: target)) == true { try? remove(to, in: target) }
            throw error
        }
    }

    /// An unusual mode, which identifies a placeholder that a crash left behind.
    private static let placeholderMode: UInt32 = 0o200

    /// Whether the file is empty and only reserves the name for a rename. `path` may be relative to an open folder.
    public static func isPlaceholder(_ path: String, in folder: Descriptor? = nil) throws(SystemError) -> Bool {
        guard let there = try status(path, in: folder), there.kind == .file, there.size == 0 else { return false }
        return there.mode & 0o7777 == placeholderMode && there.owner == geteuid()
    }

    /// Whether `one` and `other` are different names (hard links) of the same file. Each may be relative to an open
    /// folder.
    public static func isSame(
        _ one: String, in folder: Descriptor? = nil, _ other: String, in second: Descriptor? = nil
    ) throws(SystemError) -> Bool {
        guard place(folder) != place(second) || one != other, let there = try status(other, in: second),
            let here = try status(one, in: folder)
        else { return false }
        return here.device == there.device && here.inode == there.inode
    }
}
