import CLinux
import Glibc
import Synchronization
package import SystemCalls

/// An inbox and its subfolder `.pipelined`, both held open. Other users may write in the inbox, so every operation
/// starts at one of the two descriptors and follows no links. Other users therefore can't redirect an operation by
/// renaming folders.
///
/// A claim moves a file into `.pipelined` by one rename. Even without the ledger, the new path shows which file was
/// claimed: `.pipelined/ROOT/N/<path in the inbox>`. ROOT identifies the daemon's root folder, because several daemons
/// may share the inbox. N is the lowest number for which the path is unused both on disk and in the ledger.
package struct ClaimFolder: Sendable {
    package static let name = ".pipelined"

    package let inbox: String
    private let root: String
    private let top: Descriptor
    private let claims: Descriptor
    private let latest = LatestFolder()

    init(of inbox: String, root: String, top: Descriptor, claims: Descriptor) {
        (self.inbox, self.root, self.top, self.claims) = (inbox, root, top, claims)
    }

    private var path: String { "\(inbox)/\(Self.name)" }

    // MARK: - Claiming

    /// Claims the file at `path` in the inbox; returns its new path. Calls `attempting` with each new path before it
    /// renames the file to that path.
    func claim(
        _ path: String, isInWork: (String) throws -> Bool, attempting: (String) -> Void = { _ in }
    ) throws -> String {
        // Opens the folder without following links, because another user may have replaced it with a link since the
        // check.
        let folder = try top.openFolder(FileSystem.subfolder(of: path))
        return try take(
            FilePlace(folder, FileSystem.name(of: path)), as: path, isInWork: isInWork, attempting: attempting)
    }

    private func take(
        _ file: FilePlace, as path: String, isInWork: (String) throws -> Bool, attempting: (String) -> Void = { _ in }
    ) throws -> String {
        for number in 0... {
            let place = place(number, of: path)
            if try isInWork(place) { continue }
            attempting(place)
            if try take(file, to: place) { return place }
        }
        throw SystemError("rename", path, code: EEXIST)
    }

    /// The claim path for the file at `path` in the inbox, with this number.
    package func place(_ number: Int, of path: String) -> String { "\(self.path)/\(root)/\(number)/\(path)" }

    /// Moves a file from any folder to a claim path. Returns false if the path is taken.
    package func take(_ file: FilePlace, to place: String) throws -> Bool {
        try move(file, to: FileSystem.relative(place, to: path))
    }

    /// Moves a file from another file system to a claim path. Returns false if the path is taken. The incomplete copy
    /// is stored directly in `.pipelined`, where no daemon mistakes it for a claimed file.
    package func takeCopy(_ file: FilePlace, to place: String) throws -> Bool {
        let target = FileSystem.relative(place, to: path)
        let folder = try claims.makeFolder(FileSystem.folder(of: target), mode: 0o755)
        return try FileSystem.moveAcross(
            file, to: FileSystem.name(of: target), in: folder, parts: claims, inOwn: true)
    }

    /// Renames the file to `target`, which is relative to `.pipelined`. Returns false if the name is taken.
    private func move(_ file: FilePlace, to target: String) throws -> Bool {
        for attempt in 0... {
            do {
                let folder = try latest.folder(FileSystem.folder(of: target)) { path throws(SystemError) in
                    try claims.makeFolder(path, mode: 0o755)
                }
                try FileSystem.renameWithoutReplacing(
                    file.name, in: file.folder, FileSystem.name(of: target), in: folder, inOwn: true)
                return true
            } catch {
                if error.isTaken { return false }
                latest.forget()
                // If the file still exists, another thread has removed the empty folder before the rename, so try
                // again.
                guard error.isMissing, attempt < 3, try file.status() != nil else {
                    throw SystemError(error.call, "\(path)/\(target)", code: error.code)
                }
            }
        }
        return false
    }

    /// Moves a claimed file back into the inbox; throws if the inbox has another file of that name by now.
    package func giveBack(_ source: String, as path: String) throws {
        let from = try filePlace(source)
        let to = try top.makeFolder(FileSystem.subfolder(of: path), mode: 0o777)
        try FileSystem.renameWithoutReplacing(from.name, in: from.folder, FileSystem.name(of: path), in: to)
        removeEmptyFolders(above: source)
    }

    /// Completes a claim that a crash interrupted: removes the name that the file still has in the inbox. Only file
    /// systems that implement a rename as a link and an unlink leave that name behind.
    func finish(_ source: String, as path: String) throws {
        let claimed = try filePlace(source)
        guard let folder = try Self.opened(FileSystem.subfolder(of: path), below: top) else { return }
        let name = FileSystem.name(of: path)
        if try FileSystem.isSame(claimed.name, in: claimed.folder, name, in: folder) {
            try FileSystem.remove(name, in: folder)
        }
    }

    /// Syncs these claims to disk, so that they survive a power cut. Otherwise a processed file could reappear in its
    /// inbox.
    func sync(_ sources: [String]) throws(SystemError) {
        for folder in Set(sources.map(FileSystem.folder(of:))) {
            let inside = FileSystem.relative(folder, to: path)
            try latest.folder(inside, claims.openFolder).sync(called: folder)
        }
    }

    // MARK: - Claimed files

    /// The open folder and the name of an original, which is either claimed or kept in the inbox.
    package func filePlace(_ source: String) throws(SystemError) -> FilePlace {
        let isClaimed = FileSystem.lies(source, within: path)
        let inside = FileSystem.relative(source, to: isClaimed ? path : inbox)
        do {
            let below = FileSystem.subfolder(of: inside)
            let folder = isClaimed ? try latest.folder(below, claims.openFolder) : try top.openFolder(below)
            return FilePlace(folder, FileSystem.name(of: inside))
        } catch {
            throw SystemError(error.call, source, code: error.code)
        }
    }

    package func status(_ source: String) throws(SystemError) -> FileStatus? {
        do {
            return try filePlace(source).status()
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw error
        }
    }

    /// Removes the empty folders above a claimed file that was removed or moved away.
    package func removeEmptyFolders(above source: String) {
        removeEmptyFolders(from: FileSystem.subfolder(of: FileSystem.relative(source, to: path)))
    }

    /// Removes this root's folder and `.pipelined`, if they are empty.
    package func removeIfEmpty() {
        if unlinkat(claims.number, root, AT_REMOVEDIR) == 0 || errno == ENOENT {
            unlinkat(top.number, Self.name, AT_REMOVEDIR)
        }
    }

    /// Removes a folder in the inbox if it is empty. Returns false if the folder was not removed.
    func removeIfEmpty(_ folder: String) -> Bool {
        guard let above = try? top.openFolder(FileSystem.subfolder(of: folder)) else { return false }
        return unlinkat(above.number, FileSystem.name(of: folder), AT_REMOVEDIR) == 0
    }

    private func removeEmptyFolders(from inside: String) {
        var inside = inside
        latest.forget()
        while !inside.isEmpty, inside != root,
            let above = try? claims.openFolder(FileSystem.subfolder(of: inside)),
            unlinkat(above.number, FileSystem.name(of: inside), AT_REMOVEDIR) == 0
        {
            inside = FileSystem.subfolder(of: inside)
        }
    }

    /// Returns the files that this root claimed before a crash, each with its claim path (`source`) and its path in the
    /// inbox. For each folder, `known` calls `each` with the names to exclude. Also removes empty folders.
    package func left(
        except known: (_ folder: String, _ each: (String) -> Void) throws -> Void = { _, _ in }
    ) throws -> [(source: String, path: String)] {
        var found: [(String, String)] = []
        let names = try FileSystem.names(in: claims, called: path).sorted()
        let others = names.filter { $0 != root && !Self.isNumber($0) }
        // Older versions claimed files as `.pipelined/N/…`, without ROOT. If several roots share the inbox, the owner
        // of such files is unknown, so the result does not include them.
        let old = others.isEmpty ? names.filter(Self.isNumber) : []
        for top in old + (try numbers(of: root)) {
            for path in try files(below: top, except: known) { found.append(("\(self.path)/\(top)/\(path)", path)) }
        }
        return found
    }

    /// Returns the other roots that have claimed files in this inbox, each with the number of its claimed files.
    func others() throws -> [(root: String, count: Int)] {
        try FileSystem.names(in: claims, called: path).sorted()
            .filter { $0 != root && !Self.isNumber($0) }
            .map { ($0, try numbers(of: $0).reduce(0) { $0 + (try files(below: $1, removing: false).count) }) }
            .filter { $0.1 > 0 }
    }

    /// Opens a folder below `top`. Nil if it does not exist; throws if the disk can't be read.
    private static func opened(_ path: String, below top: Descriptor) throws(SystemError) -> Descriptor? {
        do {
            return try top.openFolder(path)
        } catch {
            if [ENOENT, ENOTDIR, ELOOP].contains(error.code) { return nil }
            throw error
        }
    }

    private static func isNumber(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { (48...57).contains($0) }
    }

    private func numbers(of root: String) throws -> [String] {
        guard let folder = try Self.opened(root, below: claims) else { return [] }
        return try FileSystem.names(in: folder, called: root).sorted().map { "\(root)/\($0)" }
    }

    /// Paths of the files below a folder, relative to that folder. A folder may contain a million files, nearly all of
    /// them known, so known files are excluded first.
    private func files(
        below top: String, removing: Bool = true,
        except known: (_ folder: String, _ each: (String) -> Void) throws -> Void = { _, _ in }
    ) throws -> [String] {
        var found: [String] = []
        var folders = [""]
        while let inside = folders.popLast() {
            let here = FileSystem.join(top, inside)
            guard let folder = try Self.opened(here, below: claims) else { continue }
            var names = Set(
                try FileSystem.names(in: folder, called: here).lazy.compactMap(\.self).map(FileSystem.Key.init))
            let isEmpty = names.isEmpty
            try known("\(path)/\(here)") { names.remove(FileSystem.Key($0)) }
            for name in names.map(\.path).sorted() {
                let path = inside.isEmpty ? name : "\(inside)/\(name)"
                switch try FileSystem.status(name, in: folder)?.kind {
                case .folder: folders.append(path)
                case .file: found.append(path)
                default: break
                }
            }
            if isEmpty, removing { removeEmptyFolders(from: here) }
        }
        return found
    }
}

/// Caches the folder in `.pipelined` that was opened last, because consecutive files are usually in the same folder.
private final class LatestFolder: Sendable {
    private let latest = Mutex<(path: String, folder: Descriptor)?>(nil)

    func folder(
        _ path: String, _ open: (String) throws(SystemError) -> Descriptor
    ) throws(SystemError) -> Descriptor {
        if let known = latest.withLock({ $0 }), known.path.utf8.elementsEqual(path.utf8) { return known.folder }
        let folder = try open(path)
        latest.withLock { $0 = (path, folder) }
        return folder
    }

    /// Call when the cached folder may have been removed.
    func forget() { latest.withLock { $0 = nil } }
}
