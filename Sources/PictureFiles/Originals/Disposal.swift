import DaemonRuntime
import Glibc
package import InboxWatching
package import JobLedger
import PipelineModel
package import SystemCalls
import WorkerPools

/// Moves an original to its place once its job has ended. This last step is done once; after a crash it is repeated
/// until it is recorded.
package struct Disposal: Sendable {
    package let places: Places
    /// The claim folder of the originals' inbox, or why it can't be used.
    package let claims: Result<ClaimFolder, any Error>

    package init(places: Places, claims: Result<ClaimFolder, any Error>) {
        (self.places, self.claims) = (places, claims)
    }

    /// Makes the moves and removals durable, and removes the empty folders that they leave. Returns the folders that could
    /// not be synced.
    package func finish(_ moved: [(job: JobRecord, source: String)]) -> [String: SystemError] {
        var failures: [String: SystemError] = [:]
        let there = moved.filter { $0.source != $0.job.source }.map { FileSystem.folder(of: $0.source) }
        // If a power cut brought a removed original back, the inbox would take it for a new picture.
        let removed = Set(moved.filter { Self.isRemoved($0.job) }.map { FileSystem.folder(of: $0.job.source) })
        for folder in removed.union(there) {
            do throws(SystemError) { try FileSystem.sync(folder) } catch {
                if removed.contains(folder), error.isMissing { continue }
                failures[folder] = error
            }
        }
        let left = moved.map { (FileSystem.folder(of: $0.job.source), $0.job) }
        for (folder, job) in Dictionary(left, uniquingKeysWith: { first, _ in first }) {
            switch job.origin {
            case .spooled: FileSystem.removeEmptyFolders(from: folder, upTo: places.spool)
            case .claimed: try? claims.get().removeEmptyFolders(above: job.source)
            case .kept: break
            }
            places.removeEmptyFolders(ofKept: folder)
        }
        return failures
    }

    /// Moves the original of an ended job to its place; returns its path there, or nil if the original is gone.
    package func dispose(_ job: JobRecord) throws -> String? {
        if job.origin == .kept { return job.source }
        if job.needsDownload { return try disposeOfNothing(job) }
        guard let spot = try job.spot(of: job.source, in: claims.get), let there = try spot.status() else {
            if Self.isRemoved(job) { return job.source }
            let moved = try movedBefore(job)
            if let moved, job.state == .failed { try Explanation(job: job).write(beside: moved) }
            return moved
        }
        guard job.isOriginalInWork(there.identity) else {
            throw JobFailure("\(job.source) is not the file that was claimed")
        }
        if Self.isRemoved(job) {
            try spot.remove()
            return job.source
        }
        let opening =
            job.state == .cancelled
            ? job.goal.map { goal in
                { try UndoGoal.open(goal, below: FileSystem.subfolder(of: job.path)) }
            } : nil
        let target = try Moving.move(
            spot, into: Self.goal(of: job, places), as: FileSystem.name(of: job.path), opening: opening)
        if job.state == .failed { try Explanation(job: job).write(beside: target) }
        return target
    }

    /// Whether the original is removed: the recipe says so, or it is the copy of an added file. A downloaded original
    /// stays, because it is the only copy.
    package static func isRemoved(_ job: JobRecord) -> Bool {
        job.state == .done && (job.order.original == .delete || (job.origin == .spooled && job.url == nil))
    }

    /// Marks of the original that is kept at `source`; nil if it was removed, or is not the daemon's to remove.
    package func kept(_ job: JobRecord, _ source: String) -> KeptMarks? {
        if job.needsDownload {
            guard job.state == .failed else { return nil }
            return KeptMarks(recipe: job.order.recipe, path: Self.absentPath(job, places), file: .none)
        }
        // An undo may have moved it to a folder that a user chose.
        let own = [places.archive, places.failed, places.cancelled]
        guard job.origin != .kept, own.contains(where: { FileSystem.lies(source, within: $0) }),
            let there = try? FileSystem.status(source)
        else { return nil }
        return KeptMarks(recipe: job.order.recipe, path: source, file: there.identity)
    }

    /// Disposes of an original that was never downloaded. If the job failed, its explanation is written all the same.
    private func disposeOfNothing(_ job: JobRecord) throws -> String {
        try FileSystem.remove(job.source)
        guard job.state == .failed else { return job.source }
        let place = Self.absentPath(job, places)
        try FileSystem.makeFolders(FileSystem.folder(of: place), durable: true)
        try Explanation(job: job).write(beside: place)
        return job.source
    }

    /// The path that a missing original would have. The job's number makes it unique.
    package static func absentPath(_ job: JobRecord, _ places: Places) -> String {
        FileSystem.join(folder(job, places.failed), "\(FileSystem.name(of: job.path)).job\(job.id)")
    }

    /// The folder that the original goes to, unless it is removed.
    package static func goal(of job: JobRecord, _ places: Places) -> String {
        switch job.state {
        case .done: folder(job, places.archive)
        case .cancelled where job.goal != nil:
            FileSystem.join(job.goal ?? places.cancelled, FileSystem.subfolder(of: job.path))
        case .cancelled: folder(job, places.cancelled)
        default: folder(job, places.failed)
        }
    }

    private static func folder(_ job: JobRecord, _ place: String) -> String {
        FileSystem.join("\(place)/\(job.order.recipe)", FileSystem.subfolder(of: job.path))
    }

    /// Finds an original that a crash left moved but not recorded. Names that were taken at the time of the move may be
    /// free now, so every numbered variant is checked.
    private func movedBefore(_ job: JobRecord) throws -> String? {
        let (folder, name) = (Self.goal(of: job, places), FileSystem.name(of: job.path))
        guard try FileSystem.exists(folder) else { return nil }
        var equal: String?
        for other in try FileSystem.names(in: folder).compactMap(\.self) where ResultName.isVariant(other, of: name) {
            let path = FileSystem.join(folder, other)
            guard let there = try FileSystem.status(path)?.identity else { continue }
            if there.inode == job.file.inode { return path }
            if job.isOriginalInWork(there) { equal = path }
        }
        return equal
    }
}
