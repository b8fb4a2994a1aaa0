import Glibc
package import SystemCalls

/// Moving an original: never over another file, and never gone before it has arrived.
package enum Moving {
    /// Opens the folder that an original goes to, and makes it durable if it is missing.
    package typealias Opening = () throws -> Descriptor

    /// Moves `from` into `folder` under `name`, or `name-1`, …; returns where it lies now. It survives a power cut as
    /// soon as the folder does. The next move finishes one that a crash has interrupted.
    package static func move(
        _ from: FilePlace, into folder: String, as name: String, opening: Opening? = nil
    ) throws -> String {
        for number in 0... {
            let target = FileSystem.join(folder, name)
            let place = number == 0 ? target : ResultName.numbered(target, number)
            if try move(from, to: FileSystem.name(of: place), in: folder, opening: opening) { return place }
        }
        throw SystemError("rename", FileSystem.join(folder, name), code: EEXIST)
    }

    /// Moves `from` to exactly this place; false when the name is taken.
    package static func move(_ from: FilePlace, to target: String) throws -> Bool {
        try move(from, to: FileSystem.name(of: target), in: FileSystem.folder(of: target), opening: nil)
    }

    private static func move(
        _ from: FilePlace, to name: String, in path: String, opening: Opening?
    ) throws -> Bool {
        for attempt in 0... {
            do {
                // Open from here on: the folder may be replaced by a link to elsewhere.
                let folder = try opening?() ?? open(path)
                if try move(from, to: name, in: folder) { return true }
                guard try FileSystem.isPlaceholder(name, in: folder) else { return false }
                // A crash of an earlier move has left it.
                try FileSystem.remove(name, in: folder)
            } catch let error as SystemError {
                // The folder may be removed as empty between making and renaming.
                guard error.isMissing, attempt < 3, try from.status() != nil else {
                    throw SystemError(error.call, FileSystem.join(path, name), code: error.code)
                }
            }
        }
        return false
    }

    private static func open(_ path: String) throws(SystemError) -> Descriptor {
        try FileSystem.makeFolders(path, durable: true)
        return try Descriptor.open(path, O_RDONLY | O_DIRECTORY)
    }

    /// False when the name is taken.
    private static func move(_ from: FilePlace, to name: String, in folder: Descriptor) throws(SystemError) -> Bool {
        do {
            try FileSystem.renameWithoutReplacing(from.name, in: from.folder, name, in: folder)
            return true
        } catch {
            if error.isTaken { return false }
            guard error.code == EXDEV else { throw error }
        }
        return try FileSystem.moveAcross(from, to: name, in: folder, parts: folder)
    }
}
