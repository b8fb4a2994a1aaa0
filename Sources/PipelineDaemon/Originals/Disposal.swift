import DaemonRuntime
import Glibc
import InboxWatching
import JobLedger
import PipelineControl
import PipelineModel
import SystemCalls

/// What becomes of an original once its job has ended: the last step, done once, and repeated after a crash until it is recorded.
struct Disposal: Sendable {
    let places: Places
    /// The claim folder of the originals' inbox, or why it can't be used.
    let claims: Result<ClaimFolder, any Error>

    /// Makes the moves durable, and removes the empty folders that they leave. Returns the folders that could not be
    /// synced.
    func settle(_ moved: [(job: JobRecord, source: String)]) -> [String: SystemError] {
        var failures: [String: SystemError] = [:]
        let there = moved.filter { $0.source != $0.job.source }.map { FileSystem.folder(of: $0.source) }
        for folder in Set(there) {
            do throws(SystemError) { try FileSystem.sync(folder) } catch { failures[folder] = error }
        }
        let left = moved.map { (FileSystem.folder(of: $0.job.source), $0.job) }
        for (folder, job) in Dictionary(left, uniquingKeysWith: { first, _ in first }) {
            switch job.origin {
            case .spooled: FileSystem.removeEmptyFolders(from: folder, upTo: places.spool)
            case .claimed: try? claims.get().removeEmptyFolders(above: job.source)
            case .kept: break
            }
        }
        return failures
    }

    /// The spot of the original; nil when nothing lies there any more.
    private func there(_ job: JobRecord) throws -> (spot: Spot, status: FileStatus)? {
        // An inbox that can't be opened may be away, with the originals in it.
        let claims = job.origin == .claimed ? try claims.get() : nil
        do {
            let spot = try claims?.spot(job.source) ?? Spot(job.source)
            return try spot.status().map { (spot, $0) }
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw error
        }
    }

    /// Moves the original of an ended job where it belongs; returns where it lies now, or nil when it is gone.
    func dispose(_ job: JobRecord) throws -> String? {
        if job.origin == .kept { return job.source }
        if job.needsDownload { return try disposeOfNothing(job) }
        guard let (spot, there) = try there(job) else {
            let moved = try movedBefore(job)
            if let moved, job.state == .failed { try explain(job, beside: moved) }
            return moved ?? (Self.isRemoved(job) ? job.source : nil)
        }
        // A late writer may change the size; a reboot, or on some file systems a rename, changes the inode number.
        guard there.identity.inode == job.file.inode || hasBytes(of: job, there) else {
            throw JobFailure("\(job.source) is not the file that was claimed")
        }
        if Self.isRemoved(job) {
            try spot.remove()
            return job.source
        }
        switch job.state {
        case .done:
            return try move(spot, of: job, into: places.archive)
        case .cancelled:
            return try move(spot, of: job, into: places.cancelled)
        default:
            let target = try move(spot, of: job, into: places.failed)
            try explain(job, beside: target)
            return target
        }
    }

    /// Whether the original is removed: it is a copy of an added file, or the recipe says so. A download has no other
    /// copy.
    static func isRemoved(_ job: JobRecord) -> Bool {
        job.state == .done && (job.order.original == .delete || (job.origin == .spooled && job.url == nil))
    }

    /// It was not downloaded: a failed one has its text all the same.
    private func disposeOfNothing(_ job: JobRecord) throws -> String {
        try FileSystem.remove(job.source)
        guard job.state == .failed else { return job.source }
        let place = Self.absentPath(job, places)
        try FileSystem.makeFolders(FileSystem.folder(of: place), durable: true)
        try explain(job, beside: place)
        return job.source
    }

    /// Where the original of a job that has none would lie; the number keeps it from any other.
    static func absentPath(_ job: JobRecord, _ places: Places) -> String {
        FileSystem.join(folder(job, places.failed), "\(FileSystem.name(of: job.path)).job\(job.id)")
    }

    /// The text beside a failed original.
    static func explanationPath(_ original: String) -> String {
        let name = FileSystem.name(of: original)
        var stem = name
        // Beside a name of 255 bytes there is no room for a longer one.
        while stem.utf8.count + ".error.txt".utf8.count > 250, !stem.isEmpty { stem.removeLast() }
        return FileSystem.join(FileSystem.folder(of: original), stem + ".error.txt")
    }

    /// The folder that its original goes to.
    static func goal(of job: JobRecord, _ places: Places) -> String {
        switch job.state {
        case .done: isRemoved(job) ? "nowhere" : folder(job, places.archive)
        case .cancelled: folder(job, places.cancelled)
        default: folder(job, places.failed)
        }
    }

    private func move(_ spot: Spot, of job: JobRecord, into place: String) throws -> String {
        try Moving.move(spot, into: Self.folder(job, place), as: FileSystem.name(of: job.path))
    }

    private func explain(_ job: JobRecord, beside target: String) throws {
        try FileSystem.write(Array(explanation(job, target).utf8), to: Self.explanationPath(target))
    }

    private static func folder(_ job: JobRecord, _ place: String) -> String {
        FileSystem.join("\(place)/\(job.order.recipe)", FileSystem.subfolder(of: job.path))
    }

    /// Where the original went when a crash came between the move and its record.
    private func movedBefore(_ job: JobRecord) throws -> String? {
        let places = [JobState.done: places.archive, .failed: places.failed, .cancelled: places.cancelled]
        guard let place = places[job.state] else { return nil }
        let target = FileSystem.join(Self.folder(job, place), FileSystem.name(of: job.path))
        for number in 0..<100 {
            let path = number == 0 ? target : ResultName.numbered(target, number)
            guard let there = try FileSystem.status(path) else { return nil }
            // Another inode, when it was copied to another file system.
            if hasBytes(of: job, there) || there.identity.inode == job.file.inode { return path }
        }
        return nil
    }

    private func hasBytes(of job: JobRecord, _ there: FileStatus) -> Bool {
        (there.identity.size, there.identity.modified) == (job.file.size, job.file.modified)
    }

    private func explanation(_ job: JobRecord, _ target: String) -> String {
        let name = FileSystem.name(of: job.path).printable
        let origin = job.url.map { "\n            It came from:     \(WebAddress.shown($0).printable)" } ?? ""
        let lies = job.needsDownload ? "nowhere: it was not downloaded" : target.printable
        let chains = job.order.outputs.map(\.chain.text.printable).joined(separator: "\n                  ")
        return """
            \(name) could not be processed.

            What happened:    \((job.error ?? "it is not known").printable)
            In which stage:   \(stage(of: job))
            What to do:       \((job.advice ?? "look at the picture and the chain").printable)

            The picture:      \(picture(job))
            It came as:       \(job.path.printable)\(origin)
            It lies now at:   \(lies)
            Recipe:           \(job.order.recipe)
            Chain:            \(chains)
            When:             \(Timestamp.text(job.finished ?? job.created))

            To try again:     pipectl retry \(job.id)

            """
    }

    private func stage(of job: JobRecord) -> String {
        switch job.story?.stage ?? job.story?.chapters.last?.kind {
        case "download", "DownloadOperation": "download (fetching the URL)"
        case "open": "open (reading the picture)"
        case "save": "save (writing the result)"
        case "publish": "publish (bringing the result into the outbox)"
        case "RenderOperation": "rendering"
        case let stage?: stage
        case nil: "none had begun"
        }
    }

    private func picture(_ job: JobRecord) -> String {
        (job.story?.header.map { "\($0), " } ?? "") + "\(job.file.size) bytes"
    }
}
