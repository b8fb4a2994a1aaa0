import CLinux
import Glibc

/// An unfinished copy, beside its target. Several inboxes, or several daemons, may copy into one folder at once, so
/// each copy has a name of its own, and its maker holds a lock on it. A crash releases the lock, and the next copy in
/// that folder removes the remains.
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
                // Until it is locked, another copy may take it for remains, and lock or remove it.
                let isLocked = clinux_lock(made) == 0 || errno != EWOULDBLOCK
                if isLocked, try isNamed(part.file) { return part }
                continue
            }
            guard errno == EEXIST else { throw SystemError("open", name) }
            guard let remains = try? folder.open(name, O_RDONLY | O_NONBLOCK), clinux_lock(remains.number) == 0 else {
                number += 1
                continue
            }
            // A file without a name was removed meanwhile, and the name belongs to another copy.
            if try isNamed(remains) { try FileSystem.remove(name, in: folder) }
        }
    }

    private static func isNamed(_ file: Descriptor) throws(SystemError) -> Bool { try file.status().st_nlink > 0 }
}

extension FileSystem {
    /// Moves a file to a folder of another file system: copies it to a part file in `parts`, makes that durable,
    /// renames it, and only then removes the original. False if the name is taken, except by a copy that a crash has
    /// left behind.
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
