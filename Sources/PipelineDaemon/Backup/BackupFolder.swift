import CLinux
import Foundation
import Glibc
import PictureFiles
import ServiceProgram
import SystemCalls

/// The reason why a backup failed or is incomplete.
struct BackupError: Error, CustomStringConvertible {
    var name: String
    var description: String

    init(_ name: String, _ description: String) { (self.name, self.description) = (name, description) }
}

/// A backup's folder. The copy of `/srv/a.jpg` is at `srv/a.jpg` below this folder. A note in the folder says whether
/// the backup is complete.
struct BackupFolder {
    /// The content of `pipelined-backup.json`.
    struct Note: Codable {
        /// The data folder of the daemon that was backed up.
        var of: String
        var isComplete: Bool
        var begun: String
        var ended: String?

        private enum CodingKeys: String, CodingKey {
            case of, begun, ended
            case isComplete = "complete"
        }
    }

    private static let note = "pipelined-backup.json"

    let path: String
    private var note: Note
    private let lock: Descriptor

    /// Creates the folder, or opens the folder of an earlier backup, and locks it for this process. Throws if the
    /// folder lies in one of `watched`, the inboxes and outboxes.
    init(_ folder: String, of places: Places, watched: [String]) throws {
        path = FileSystem.resolved(FileSystem.absolute(folder))
        try Self.check(path, against: watched + places.backedUp)
        note = Note(of: places.data, isComplete: false, begun: Timestamp.dated(Timestamp.now()))
        try FileSystem.makeFolders(path, mode: 0o700)
        lock = try Descriptor.open(path, O_RDONLY | O_DIRECTORY)
        guard clinux_lock(lock.number) == 0 else {
            throw BackupError("Refused", "another backup is being made into \(path); wait for its end")
        }
        if let earlier = try Self.read(path), earlier.of != places.data {
            throw BackupError("Refused", "\(path) is a backup of \(earlier.of); choose another folder for this one")
        }
    }

    private static func check(_ path: String, against others: [String]) throws {
        for folder in others where FileSystem.lies(path, within: FileSystem.resolved(folder)) {
            throw BackupError(
                "Refused",
                "\(path) lies in \(folder), where the daemon works; choose a folder elsewhere, on another disk")
        }
        guard let there = try FileSystem.status(path) else { return }
        guard there.kind == .folder else { throw BackupError("Refused", "\(path) is not a folder") }
        // Ignore lost+found, which every new ext4 file system contains.
        var hasOthers = false
        let names = try FileSystem.names(in: path, misnamed: { _ in hasOthers = true }).filter { $0 != "lost+found" }
        guard names.isEmpty && !hasOthers || names.contains(note) else {
            throw BackupError(
                "Refused", "\(path) is neither empty nor a backup: it has no \(note); choose an empty folder")
        }
    }

    private static func read(_ folder: String) throws -> Note? {
        guard let data = FileManager.default.contents(atPath: FileSystem.join(folder, note)) else { return nil }
        guard let note = try? JSONDecoder().decode(Note.self, from: data) else {
            throw BackupError(
                "Refused", "\(FileSystem.join(folder, note)) can't be understood; choose an empty folder")
        }
        return note
    }

    /// The path of the backup's copy of the file at `path`.
    func place(of path: String) -> String { self.path + path }

    /// Marks the backup as incomplete until `finish` is called.
    func begin() throws { try write(note) }

    /// Makes everything durable, and marks the backup as complete.
    mutating func finish() throws {
        guard clinux_sync_disk(lock.number) == 0 else { throw SystemError("syncfs", path) }
        (note.isComplete, note.ended) = (true, Timestamp.dated(Timestamp.now()))
        try write(note)
    }

    private func write(_ note: Note) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
        try FileSystem.write(try encoder.encode(note) + Data("\n".utf8), to: FileSystem.join(path, Self.note))
    }
}

extension Places {
    /// The folders to back up: the daemon's data, its configuration, and the filters that the administrator has
    /// installed.
    var backedUp: [String] {
        var folders = [data]
        for folder in [configuration, plugins[0]] where !FileSystem.lies(folder, within: data) {
            folders.append(folder)
        }
        return folders.filter(FileSystem.isFolder)
    }

    /// Paths that a backup leaves out: files that the daemon recreates at its start, and the ledger's files, because a
    /// plain copy of a database in use may be inconsistent.
    var leftOutOfBackups: Set<String> {
        Set([run, previews, lock, reserve, pluginCopies, comeback] + ["", "-wal", "-shm"].map { ledger + $0 })
    }

    /// The folders in the order in which a picture moves through them.
    var way: [String] { [inbox, state, outbox, archive, failed, cancelled, recovered] }
}
