import Glibc
import SystemCalls

/// Moving an original: never over another file, and never gone before it has arrived.
enum Moving {
    /// Moves `from` into `folder` under `name`, or `name-1`, …; returns where it lies now. It survives a power cut as
    /// soon as the folder does. The next move finishes one that a crash has interrupted.
    static func move(_ from: Spot, into folder: String, as name: String) throws -> String {
        let wanted = FileSystem.join(folder, name)
        for number in 0... {
            let target = number == 0 ? wanted : ResultName.numbered(wanted, number)
            if try move(from, to: target) { return target }
        }
        throw SystemError("rename", wanted, code: EEXIST)
    }

    /// Moves `from` to exactly this place; false when the name is taken.
    static func move(_ from: Spot, to target: String) throws -> Bool {
        for attempt in 0... {
            try FileSystem.makeFolders(FileSystem.folder(of: target), durable: true)
            do {
                try FileSystem.renameWithoutReplacing(from.name, in: from.folder, target)
                return true
            } catch {
                if error.isTaken {
                    guard try FileSystem.isPlaceholder(target) else { return false }
                    // Left by a crash of an earlier move.
                    try FileSystem.remove(target)
                    continue
                }
                if error.code == EXDEV { return try copy(from, to: target) }
                // The folder may be removed as empty between making and renaming.
                guard error.isMissing, attempt < 3, try from.status() != nil else { throw error }
            }
        }
        return false
    }

    /// Across mounts: copy, fsync, rename, unlink. False when the name is taken.
    private static func copy(_ from: Spot, to target: String) throws -> Bool {
        let source = try from.open(O_RDONLY)
        if try FileSystem.exists(target) {
            guard try FileSystem.isCopy(target, of: source) else { return false }
            try from.remove()
            return true
        }
        let folder = FileSystem.folder(of: target)
        // Originals are moved one after the other, so the name is free; what a crash has left there is written over.
        let temporary = FileSystem.join(folder, ".original.part")
        defer { try? FileSystem.remove(temporary) }
        let copy = try Descriptor.open(temporary, O_WRONLY | O_CREAT | O_TRUNC)
        try FileSystem.copy(source, to: copy, called: temporary)
        try FileSystem.copyMarks(of: source, to: copy)
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
}
