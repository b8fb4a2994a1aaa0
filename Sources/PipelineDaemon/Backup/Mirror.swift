import CLinux
import Foundation
import Glibc
import InboxWatching
import PictureFiles
import SystemCalls

/// Copies folders into a backup. It skips files that the backup already has. At the end, it removes from the backup the
/// files that the daemon no longer has. The daemon may create, move and remove files meanwhile.
///
/// Pictures move through the daemon's folders in a fixed order. The folders are read in the same order, so that a
/// picture that moves meanwhile is found at least once.
final class Mirror {
    struct Amount: Encodable {
        var files = 0
        var bytes: Int64 = 0

        mutating func add(_ size: Int64) { (files, bytes) = (files + 1, bytes + size) }
    }

    /// All files that belong in the backup. `copied` counts only the files that were copied, or that a trial would
    /// copy.
    private(set) var all = Amount()
    private(set) var copied = Amount()
    private(set) var removed = 0
    /// Files that could not be copied, with the reason.
    private(set) var problems: [String] = []
    private let left: Set<String>
    private let order: [String]
    private let isTrial: Bool
    private let tell: (Mirror) -> Void
    private var gone: [String] = []

    /// Paths in `left` are not copied. Folders in `order` are read in that order, after all other files and folders in
    /// the same folder. A trial writes nothing; it only counts the files that it would copy.
    init(leaving left: Set<String>, order: [String], isTrial: Bool = false, tell: @escaping (Mirror) -> Void = { _ in })
    {
        (self.left, self.order, self.isTrial, self.tell) = (left, order, isTrial, tell)
    }

    /// The name of an unfinished copy. If a backup is killed and leaves such a file, the next backup removes it,
    /// because the daemon has no file with this name.
    private static let unfinished = ".pipelined-backup.part"

    // MARK: - Folders

    /// Starts another round through all folders. It retries files that the previous round could not read.
    func begin() { (all, problems) = (Amount(), []) }

    /// Copies the folder at `path` into the folder `target`.
    func copyFolder(_ path: String, to target: String) throws {
        if !isTrial { try FileSystem.makeFolders(FileSystem.folder(of: target)) }
        try copy(try Descriptor.open(path, O_RDONLY | O_DIRECTORY), path, to: target)
    }

    private func copy(_ folder: Descriptor, _ path: String, to target: String) throws {
        let names = try FileSystem.names(in: folder, called: path) {
            problems.append("\(FileSystem.join(path, $0)) has a name that is not UTF-8; rename it")
        }
        let known = names.filter { !left.contains(FileSystem.join(path, $0)) }
        if !isTrial {
            try makeFolder(target)
            let kept = Set(names)
            for name in try FileSystem.names(in: target) where !kept.contains(name) {
                gone.append(FileSystem.join(target, name))
            }
        }
        for (name, status) in try sorted(known, in: folder, path) {
            let (from, to) = (FileSystem.join(path, name), FileSystem.join(target, name))
            switch status.kind {
            case .file: try copyFile(name, status, in: folder, called: from, to: to)
            case .folder:
                guard let below = try open(name, O_DIRECTORY, in: folder, called: from) else { continue }
                try copy(below, from, to: to)
            case .link: try copyLink(from, to: to)
            case .other: continue
            }
        }
        if !isTrial {
            try setMarks(
                FileStatus(try folder.status()), of: folder, on: Descriptor.open(target, O_RDONLY | O_DIRECTORY))
        }
    }

    /// Sorts files before folders. In an outbox, the folder of staging files comes before everything else, because
    /// staging files move from there into the outbox. In an inbox, the folder of claimed originals comes last, because
    /// originals move there from the inbox.
    private func sorted(
        _ names: [String], in folder: Descriptor, _ path: String
    ) throws -> [(name: String, status: FileStatus)] {
        let found = try names.compactMap { name in try FileSystem.status(name, in: folder).map { (name, $0) } }
        func rank(_ name: String, _ status: FileStatus) -> Int {
            if name == Staging.folderName { return -1 }
            guard status.kind == .folder else { return 0 }
            if name == ClaimFolder.name { return .max }
            return 1 + (order.firstIndex(of: FileSystem.join(path, name)).map { $0 + 1 } ?? 0)
        }
        return found.map { (rank($0.0, $0.1), $0) }.sorted { ($0.0, $0.1.0) < ($1.0, $1.1.0) }.map(\.1)
    }

    private func makeFolder(_ target: String) throws {
        let there = try FileSystem.status(target)
        if let there, there.kind != .folder { try FileSystem.remove(target) }
        guard there?.kind != .folder else { return }
        try FileSystem.makeFolders(target, mode: 0o700)
    }

    /// Removes from the backup the files that the daemon no longer has. Called last, so that the backup already
    /// contains a moved picture at its new path.
    func removeGone() throws {
        for path in gone where try FileSystem.exists(path) {
            try FileManager.default.removeItem(atPath: path)
            if FileSystem.name(of: path) != Self.unfinished { removed += 1 }
        }
        gone = []
    }

    // MARK: - Files

    /// Copies one file, unless the backup already has it. `name` may be a path below `folder`.
    func copyFile(
        _ name: String, _ status: FileStatus, in folder: Descriptor, called path: String, to target: String
    ) throws {
        all.add(status.size)
        defer { tell(self) }
        let there = try FileSystem.status(target)
        if let there, there.kind == .file, (there.size, there.modified) == (status.size, status.modified) {
            if !isTrial, Self.isOther(there, status) {
                try setMarks(status, of: nil, on: Descriptor.open(target, O_RDONLY))
            }
            return
        }
        guard !isTrial else { return copied.add(status.size) }
        guard let source = try open(name, O_NONBLOCK | O_NOCTTY, in: folder, called: path) else { return }
        if let there, there.kind != .file { try FileManager.default.removeItem(atPath: target) }
        let part = FileSystem.join(FileSystem.folder(of: target), Self.unfinished)
        let copy = try Descriptor.open(part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o600)
        // Give the copy the time that the file had before it was copied. If the file changes meanwhile, the times
        // differ, and the next backup copies it again.
        let before = FileStatus(try source.status())
        do throws(SystemError) {
            try FileSystem.copy(source, to: copy, called: path, durably: false)
        } catch {
            guard error.call == "read" else { throw error }
            return problems.append("\(error)")
        }
        try setMarks(before, of: source, on: copy)
        try FileSystem.rename(part, target)
        copied.add(before.size)
    }

    private func copyLink(_ path: String, to target: String) throws {
        guard !isTrial, let aim = try? FileManager.default.destinationOfSymbolicLink(atPath: path) else { return }
        if let there = try FileSystem.status(target) {
            if there.kind == .link, try FileManager.default.destinationOfSymbolicLink(atPath: target) == aim { return }
            try FileManager.default.removeItem(atPath: target)
        }
        try FileManager.default.createSymbolicLink(atPath: target, withDestinationPath: aim)
    }

    /// Opens a file or folder to copy. Returns nil if the file has moved or been removed. Also returns nil if it can't
    /// be read, and records that as a problem of the backup.
    private func open(_ name: String, _ flags: Int32, in folder: Descriptor, called path: String) throws -> Descriptor?
    {
        do throws(SystemError) {
            return try folder.open(name, O_RDONLY | flags)
        } catch {
            // The file has moved or been removed, or a link has replaced it.
            if [ENOENT, ENOTDIR, ELOOP, EXDEV].contains(error.code) { return nil }
            guard !isTrial else { return nil }
            problems.append("\(path): \(error.reason)")
            return nil
        }
    }

    // MARK: - Owners, modes and times

    /// Only root can set owners. A copy that another user makes belongs to that user.
    private static let givesAway = geteuid() == 0

    private static func isOther(_ there: FileStatus, _ status: FileStatus) -> Bool {
        there.mode != status.mode || (givesAway && (there.owner, there.group) != (status.owner, status.group))
    }

    /// Sets owner, mode, extended attributes such as access lists, and times.
    private func setMarks(_ status: FileStatus, of source: Descriptor?, on copy: Descriptor) throws {
        // Ignore an error: some file systems store no owners. A restore sets the owners again.
        if Self.givesAway { _ = fchown(copy.number, status.owner, status.group) }
        _ = fchmod(copy.number, status.mode & 0o7777)
        if let source { clinux_copy_attributes(source.number, copy.number) }
        let time = timespec(
            tv_sec: Int(status.modified / 1_000_000_000), tv_nsec: Int(status.modified % 1_000_000_000))
        guard futimens(copy.number, [time, time]) == 0 else { throw SystemError("futimens", "a copy") }
    }
}
