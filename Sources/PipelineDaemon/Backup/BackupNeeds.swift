import Glibc
import JobLedger
import PictureFiles
import SystemCalls

/// Adds to a backup the files that rows of the copied ledger refer to and that the backup lacks. Pictures may have
/// moved after their folders were copied and before the ledger was copied. Such a picture is copied from its current
/// path to the path in its row.
struct BackupNeeds {
    private let data: String
    private let copyOfData: String
    private let live: LedgerView
    private let mirror: Mirror
    private let source: Descriptor
    private let target: Descriptor
    /// Originals that were not found although their jobs have not ended in the copied ledger. These jobs have probably
    /// ended since the copy.
    private(set) var late: [LedgerView.Original] = []

    init(_ places: Places, _ folder: BackupFolder, live: LedgerView, mirror: Mirror) throws {
        (data, copyOfData) = (places.data, folder.place(of: places.data))
        (self.live, self.mirror) = (live, mirror)
        source = try Descriptor.open(data, O_RDONLY | O_DIRECTORY)
        target = try Descriptor.open(copyOfData, O_RDONLY | O_DIRECTORY)
    }

    mutating func complete(_ copy: LedgerView) throws {
        var late: [LedgerView.Original] = []
        try copy.forEachOriginal { original in
            guard !isThere(original.places), try !bring(original) else { return }
            // An original may be missing if its job is over, because a user may have removed it.
            if !original.isOver { late.append(original) }
        }
        self.late = late
        try copy.forEachMade { path in if !isThere([path]) { _ = try bring(path, to: path) } }
    }

    /// Whether the backup contains a file at one of these paths. Paths outside the daemon's folder count as contained,
    /// because the backup leaves them out.
    private func isThere(_ paths: [String]) -> Bool {
        paths.contains { path in
            guard let relative = relative(path) else { return true }
            do throws(SystemError) {
                _ = try target.open(relative, O_RDONLY | O_NONBLOCK | O_NOCTTY)
                return true
            } catch {
                // Other errors mean that a link at this path leads out of the backup. The link counts as a file.
                return ![ENOENT, ENOTDIR].contains(error.code)
            }
        }
    }

    private func bring(_ original: LedgerView.Original) throws -> Bool {
        for place in original.places where try bring(place, to: place) { return true }
        // The original may move during the search, but only a few times.
        for _ in 0..<5 {
            guard let now = try live.original(of: original.job) else { return false }
            for place in now.places where try bring(place, to: original.places[0]) { return true }
        }
        return false
    }

    private func bring(_ path: String, to place: String) throws -> Bool {
        guard let from = relative(path), let to = relative(place),
            let status = try FileSystem.status(from, in: source), status.kind == .file
        else { return false }
        let copy = FileSystem.join(copyOfData, to)
        try FileSystem.makeFolders(FileSystem.folder(of: copy), mode: 0o750)
        try mirror.copyFile(from, status, in: source, called: path, to: copy)
        return isThere([place])
    }

    private func relative(_ path: String) -> String? {
        FileSystem.lies(path, within: data) ? FileSystem.relative(path, to: data) : nil
    }
}
