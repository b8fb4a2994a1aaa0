import CLinux
import Glibc

/// An unfinished copy of a file. Several inboxes, or several daemons, may copy into one folder at once. So each copy
/// has its own name, and the writing process keeps the copy locked. A crash releases the lock, and the next copy into
/// that folder removes the abandoned file.
private struct PartFile {
    let name: String
    let file: Descriptor

    static func make(in folder: Descriptor) throws(SystemError) -> PartFile {
        var number = 0
        while true {
            let name = ".pipelined-\(number).part"
            let made = clinux_create_at(folder.number, name, 0o600)
            if made >= 0 {
                let part = PartFile(name: name, file: Descriptor(owning: made))
                // Before the new file is locked, another process may mistake it for an abandoned file, and lock or
                // remove it.
                let isLocked = clinux_lock(made) == 0 || errno != EWOULDBLOCK
                if isLocked, try isNamed(part.file) { return part }
                continue
            }
            guard errno == EEXIST else { throw SystemError("open", name) }
            guard let remains = try? folder.open(name, O_RDONLY | O_NONBLOCK), clinux_lock(remains.number) == 0 else {
                number += 1
                continue
            }
            // If the locked file has lost its name, another process has removed the file, and may have reused the name
            // for a new file. So remove the name only if the locked file still has it.
            if try isNamed(remains) { try FileSystem.remove(name, in: folder) }
        }
    }

    private static func isNamed(_ file: Descriptor) throws(SystemError) -> Bool { try file.status().st_nlink > 0 }
}

extension FileSystem {
    /// Moves a file to a folder on another file system: copies it to a part file in `parts`, makes the copy durable,
    /// renames the copy to `name`, and only then removes the original. If a complete copy already has this name, an
    /// earlier move crashed, and this call only removes the original. If any other file has this name, returns false.
    public static func moveAcross(
        _ file: FilePlace, to name: String, in folder: Descriptor, parts: Descriptor, inOwn own: Bool = false
    ) throws(SystemError) -> Bool {
        let source = try file.open(O_RDONLY)
        if try status(name, in: folder) != nil {
            guard try isCopy(name, in: folder, of: source) else { return false }
            try file.remove()
            return true
        }
        let part = try PartFile.make(in: parts)
        do throws(SystemError) {
            try copy(source, to: part.file, called: part.name)
            try copyMarks(of: source, to: part.file)
            try renameWithoutReplacing(part.name, in: parts, name, in: folder, inOwn: own)
        } catch {
            try? remove(part.name, in: parts)
            if error.isTaken { return false }
            throw error
        }
        try folder.sync(called: name)
        try file.remove()
        return true
    }
}
