import Glibc
import SystemCalls

extension SystemError {
    /// The name is there already.
    var isTaken: Bool { code == EEXIST }
    var isMissing: Bool { code == ENOENT }
}

/// Moving an original: never over another file, and never gone before it has arrived.
enum Moving {
    /// Moves `from` into `folder` under `name`, or `name-1`, …; returns where it lies now.
    static func move(_ from: String, into folder: String, as name: String) throws -> String {
        try FileSystem.makeFolders(folder)
        var target = FileSystem.join(folder, name)
        var number = 0
        while true {
            do {
                try rename(from, target)
                return target
            } catch let error as SystemError where error.isTaken {
                number += 1
                target = ResultName.numbered(FileSystem.join(folder, name), number)
            }
        }
    }

    /// A rename, or across mounts: copy, fsync, rename, unlink.
    private static func rename(_ from: String, _ to: String) throws {
        do {
            try FileSystem.renameWithoutReplacing(from, to)
        } catch where error.code == EXDEV {
            let folder = FileSystem.folder(of: to)
            let temporary = FileSystem.join(folder, ".\(getpid())-\(FileSystem.name(of: from).utf8.count).part")
            let source = try Descriptor.open(from, O_RDONLY | O_NOFOLLOW)
            let copy = try Descriptor.open(temporary, O_WRONLY | O_CREAT | O_TRUNC)
            do {
                try FileSystem.copy(source, to: copy, called: temporary)
                try copyTimes(of: source, to: copy)
                try FileSystem.renameWithoutReplacing(temporary, to)
            } catch {
                try? FileSystem.remove(temporary)
                throw error
            }
            try FileSystem.sync(folder)
            try FileSystem.remove(from)
        }
    }

    private static func copyTimes(of source: Descriptor, to copy: Descriptor) throws {
        let status = try source.status()
        let times = [status.st_atim, status.st_mtim]
        guard futimens(copy.number, times) == 0 else { throw SystemError("futimens", "a copy") }
        fchmod(copy.number, status.st_mode & 0o777)
    }
}
