import Glibc
import SystemCalls

/// Claiming: one rename into `.pipelined/` in the same inbox. The names inside tell what was claimed, with no ledger needed:
/// `.pipelined/N/<path in the inbox>`, where N is 0 unless that name is in work already: a file lies there, or the ledger still speaks
/// of one there, whose end it has not recorded yet.
enum Claims {
    static let folderName = ".pipelined"

    static func folder(in inbox: String) -> String { "\(inbox)/\(folderName)" }

    /// Takes the file at `path` of `inbox`; returns where it lies now.
    static func claim(_ path: String, in inbox: String, isInWork: (String) throws -> Bool) throws -> String {
        // Held open: it may have become a link to elsewhere since it was looked at.
        let folder = try Descriptor.openFolder(FileSystem.subfolder(of: path), beneath: inbox)
        return try take(FileSystem.name(of: path), from: folder, as: path, in: inbox, isInWork: isInWork)
    }

    /// The same for a file that lies elsewhere, and comes back as `path`.
    static func take(
        _ file: String, from above: Descriptor? = nil, as path: String, in inbox: String,
        isInWork: (String) throws -> Bool
    ) throws -> String {
        for number in 0... {
            let target = "\(folder(in: inbox))/\(number)/\(path)"
            if try !isInWork(target), try move(file, from: above, to: target) { return target }
        }
        throw SystemError("rename", path, code: EEXIST)
    }

    /// False when the name is taken.
    private static func move(_ file: String, from above: Descriptor?, to target: String) throws -> Bool {
        for attempt in 0... {
            do {
                try FileSystem.renameWithoutReplacing(file, in: above, target)
                return true
            } catch {
                if error.isTaken { return false }
                guard error.isMissing, attempt < 3 else { throw error }
            }
            // The folder is not there yet; once made, it may be removed as empty before the next attempt.
            try FileSystem.makeFolders(FileSystem.folder(of: target))
        }
        return false
    }

    /// Gives a claimed file back to the inbox, unless its name is taken again.
    static func giveBack(_ claimed: String, as path: String, in inbox: String) throws {
        try FileSystem.renameWithoutReplacing(claimed, FileSystem.join(inbox, path))
        FileSystem.removeEmptyFolders(from: FileSystem.folder(of: claimed), upTo: folder(in: inbox))
    }

    /// Finishes the claim of a file that still has its name in the inbox, where a rename is a link and an unlink.
    static func finish(_ claimed: String, as path: String, in inbox: String) throws {
        let name = FileSystem.join(inbox, path)
        if try FileSystem.isSame(claimed, name) { try FileSystem.remove(name) }
    }

    /// Removes what a crash has left empty.
    static func removeEmptyFolders(in inbox: String) throws {
        var folders = [folder(in: inbox)]
        var empty: [String] = []
        while let folder = folders.popLast() {
            var isEmpty = true
            for name in try FileSystem.names(in: folder).compactMap(\.self) {
                isEmpty = false
                let path = FileSystem.join(folder, name)
                if try FileSystem.status(path)?.kind == .folder { folders.append(path) }
            }
            if isEmpty { empty.append(folder) }
        }
        for path in empty { FileSystem.removeEmptyFolders(from: path, upTo: folder(in: inbox)) }
    }

    /// Everything that lies claimed, as (where, path in the inbox).
    static func all(in inbox: String) throws -> [(source: String, path: String)] {
        var found: [(String, String)] = []
        for number in try FileSystem.names(in: folder(in: inbox)).compactMap(\.self).sorted() {
            let top = "\(folder(in: inbox))/\(number)"
            var folders = [""]
            while let folder = folders.popLast() {
                for name in try FileSystem.names(in: FileSystem.join(top, folder)).compactMap(\.self).sorted() {
                    let path = folder.isEmpty ? name : "\(folder)/\(name)"
                    let source = "\(top)/\(path)"
                    switch try FileSystem.status(source)?.kind {
                    case .folder: folders.append(path)
                    case .file: found.append((source, path))
                    default: break
                    }
                }
            }
        }
        return found
    }
}
