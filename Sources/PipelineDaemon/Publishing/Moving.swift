import Glibc
import SystemCalls

extension SystemError {
    /// The name is there already.
    var isTaken: Bool { code == EEXIST }
    var isMissing: Bool { code == ENOENT }
    /// The system has no more to give just now; it has nothing against the file.
    var isPassing: Bool { [EMFILE, ENFILE, ENOMEM].contains(code) }
}

/// Moving an original: never over another file, and never gone before it has arrived.
enum Moving {
    /// Moves `from` into `folder` under `name`, or `name-1`, …; returns where it lies now. It survives a power cut as soon as the folder
    /// does. One that a crash has interrupted is finished by the next.
    static func move(_ from: Spot, into folder: String, as name: String) throws -> String {
        try FileSystem.makeFolders(folder, durable: true)
        let wanted = FileSystem.join(folder, name)
        for number in 0... {
            let target = number == 0 ? wanted : ResultName.numbered(wanted, number)
            do {
                try FileSystem.renameWithoutReplacing(from.name, in: from.folder, target)
                return target
            } catch {
                if error.isTaken { continue }
                guard error.code == EXDEV else { throw error }
            }
            if try copy(from, to: target) { return target }
        }
        throw SystemError("rename", wanted, code: EEXIST)
    }

    /// Across mounts: copy, fsync, rename, unlink. False when the name is taken.
    private static func copy(_ from: Spot, to target: String) throws -> Bool {
        let source = try from.open(O_RDONLY)
        if FileSystem.exists(target) {
            guard try isCopy(target, of: source) else { return false }
            try from.remove()
            return true
        }
        let folder = FileSystem.folder(of: target)
        // Originals are moved one after the other, so the name is free; what a crash has left there is written over.
        let temporary = FileSystem.join(folder, ".original.part")
        defer { try? FileSystem.remove(temporary) }
        let copy = try Descriptor.open(temporary, O_WRONLY | O_CREAT | O_TRUNC)
        try FileSystem.copy(source, to: copy, called: temporary)
        try copyTimes(of: source, to: copy)
        do {
            try FileSystem.renameWithoutReplacing(temporary, target)
        } catch {
            if error.isTaken { return false }
            throw error
        }
        try FileSystem.sync(folder)
        try from.remove()
        return true
    }

    /// A crash came between the copy's rename and the original's end: same time, same bytes.
    private static func isCopy(_ path: String, of source: Descriptor) throws -> Bool {
        guard let there = try FileSystem.status(path), there.kind == .file else { return false }
        let original = FileStatus(try source.status())
        guard (there.size, there.modified) == (original.size, original.modified) else { return false }
        return try FileSystem.isEqual(source, try Descriptor.open(path, O_RDONLY | O_NOFOLLOW))
    }

    private static func copyTimes(of source: Descriptor, to copy: Descriptor) throws {
        let status = try source.status()
        let times = [status.st_atim, status.st_mtim]
        guard futimens(copy.number, times) == 0 else { throw SystemError("futimens", "a copy") }
        fchmod(copy.number, status.st_mode & 0o777)
    }
}
