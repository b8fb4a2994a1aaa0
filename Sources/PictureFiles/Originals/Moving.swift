import Glibc
package import SystemCalls

/// Moves originals. A move never overwrites another file, and removes the source only after the target is complete.
package enum Moving {
    /// Opens the target folder of a move, or creates it durably if it is missing.
    package typealias Opening = () throws -> Descriptor

    /// Moves `from` into `folder` as `name`, or as `name-1`, `name-2`, … if that name is taken. Returns the new path.
    /// The move is durable once the folder is synced. If a crash interrupts a move, the next move of this file
    /// completes it.
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

    /// Moves `from` to exactly this path; returns false if the name is taken.
    package static func move(_ from: FilePlace, to target: String) throws -> Bool {
        try move(from, to: FileSystem.name(of: target), in: FileSystem.folder(of: target), opening: nil)
    }

    private static func move(
        _ from: FilePlace, to name: String, in path: String, opening: Opening?
    ) throws -> Bool {
        for attempt in 0... {
            do {
                // From here on, use the open folder instead of the path, because somebody may replace the folder at
                // this path with a link.
                let folder = try opening?() ?? open(path)
                if try move(from, to: name, in: folder) { return true }
                guard try FileSystem.isPlaceholder(name, in: folder) else { return false }
                // An earlier move that crashed has left this placeholder.
                try FileSystem.remove(name, in: folder)
            } catch let error as SystemError {
                // Somebody may have removed the empty folder between its creation and the rename. The next attempt
                // creates it again.
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

    /// Returns false if the name is taken.
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
