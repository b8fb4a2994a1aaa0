import DaemonRuntime
import Glibc
package import InboxWatching
package import JobLedger
package import JobModel
import PipelineModel
import ServiceProgram
package import SystemCalls
import WorkerPools

/// Moves or removes the original of a job that has ended. After a crash, the daemon repeats this step until the ledger
/// has recorded it.
package struct Disposal: Sendable {
    package let places: Places
    /// The claim folder of the originals' inbox, or the error that prevents its use.
    package let claims: Result<ClaimFolder, any Error>

    package init(places: Places, claims: Result<ClaimFolder, any Error>) {
        (self.places, self.claims) = (places, claims)
    }

    /// Syncs the folders of moved and removed originals, and removes the folders that are empty now. Returns the
    /// folders that could not be synced.
    package func finish(_ moved: [(job: JobRecord, source: String)]) -> [String: SystemError] {
        var failures: [String: SystemError] = [:]
        let there = moved.filter { $0.source != $0.job.source }.map { FileSystem.folder(of: $0.source) }
        // Removals must be durable as well: if a power cut brought a removed original back, the inbox would take it for
        // a new picture.
        let removed = Set(moved.filter { $0.job.removesOriginal }.map { FileSystem.folder(of: $0.job.source) })
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

    /// Moves the original of an ended job to its final place, or removes it. Returns the original's path afterwards. If
    /// the original was removed or stays in place, returns the old path. If it can't be found, returns nil.
    package func dispose(_ job: JobRecord) throws -> String? {
        if job.origin == .kept { return job.source }
        if job.needsDownload { return try disposeOfNothing(job) }
        guard let filePlace = try job.filePlace(of: job.source, in: claims.get), let there = try filePlace.status()
        else {
            if job.removesOriginal { return job.source }
            let moved = try movedBefore(job)
            if let moved, job.state == .failed { try Explanation(job: job).write(beside: moved) }
            return moved
        }
        guard job.isOriginalInWork(there.identity) else {
            throw JobFailure("\(job.source) is not the file that was claimed")
        }
        if job.removesOriginal {
            try filePlace.remove()
            return job.source
        }
        let opening =
            job.state == .cancelled
            ? job.goal.map { goal in
                { try UndoGoal.open(goal, below: FileSystem.subfolder(of: job.path)) }
            } : nil
        let (goal, name) = (Self.goal(of: job, places), FileSystem.name(of: job.path))
        let target: String
        do {
            target = try Moving.move(filePlace, into: goal, as: name, opening: opening)
        } catch let error as SystemError where error.code == ENOTDIR && job.goal == nil {
            target = try Moving.move(filePlace, into: folder(of: job), as: name)
        }
        if job.state == .failed { try Explanation(job: job).write(beside: target) }
        return target
    }

    /// Returns a record of the original, whose path is now `source`, so that [Keep] can remove the original later.
    /// Returns nil if the original was removed already, or if [Keep] must not remove it.
    package func kept(_ job: JobRecord, _ source: String) -> KeptMarks? {
        if job.needsDownload {
            guard job.state == .failed else { return nil }
            return KeptMarks(recipe: job.order.recipe, path: Self.absentPath(job, places), file: .none)
        }
        // An undo may have moved the original to a folder that a user chose, where [Keep] removes nothing.
        let own = [places.archive, places.failed, places.cancelled]
        guard job.origin != .kept, own.contains(where: { FileSystem.lies(source, within: $0) }),
            let there = try? FileSystem.status(source)
        else { return nil }
        return KeptMarks(recipe: job.order.recipe, path: source, file: there.identity)
    }

    /// Disposes of an original that was never downloaded: removes a partial download, and writes the explanation if the
    /// job failed.
    private func disposeOfNothing(_ job: JobRecord) throws -> String {
        try FileSystem.remove(job.source)
        guard job.state == .failed else { return job.source }
        let place = Self.absentPath(job, places)
        try FileSystem.makeFolders(FileSystem.folder(of: place), durable: true)
        try Explanation(job: job).write(beside: place)
        return job.source
    }

    /// The path in `failed/` that stands for an original that was never downloaded. The job's ID makes the path unique.
    package static func absentPath(_ job: JobRecord, _ places: Places) -> String {
        FileSystem.join(folder(job, places.failed), "\(FileSystem.name(of: job.path)).job\(job.id)")
    }

    /// The target folder of the original, unless the original is removed.
    package static func goal(of job: JobRecord, _ places: Places) -> String {
        switch job.state {
        case .done: folder(job, places.archive)
        case .cancelled where job.goal != nil:
            FileSystem.join(job.goal ?? places.cancelled, FileSystem.subfolder(of: job.path))
        case .cancelled: folder(job, places.cancelled)
        default: folder(job, places.failed)
        }
    }

    /// The target folder. If a file, such as an earlier original, has the name of a subfolder, the subfolder gets a
    /// numbered name.
    private func folder(of job: JobRecord) throws -> String {
        let (goal, subfolder) = (Self.goal(of: job, places), FileSystem.subfolder(of: job.path))
        guard job.goal == nil, !subfolder.isEmpty else { return goal }
        var path = String(goal.dropLast(subfolder.count + 1))
        for part in subfolder.split(separator: "/") {
            let plain = FileSystem.join(path, String(part))
            path = plain
            var number = 0
            while try FileSystem.exists(path), !FileSystem.isFolder(path) {
                number += 1
                path = ResultName.numbered(plain, number)
            }
        }
        return path
    }

    private static func folder(_ job: JobRecord, _ place: String) -> String {
        FileSystem.join("\(place)/\(job.order.recipe)", FileSystem.subfolder(of: job.path))
    }

    /// Finds an original that was moved before a crash, if the ledger did not record the move. If the plain name was
    /// taken, the move used a numbered name. This function therefore checks every numbered variant.
    private func movedBefore(_ job: JobRecord) throws -> String? {
        let (folder, name) = (try folder(of: job), FileSystem.name(of: job.path))
        guard try FileSystem.exists(folder) else { return nil }
        var equal: String?
        for other in try FileSystem.names(in: folder) where ResultName.isVariant(other, of: name) {
            let path = FileSystem.join(folder, other)
            guard let there = try FileSystem.status(path)?.identity else { continue }
            if there.inode == job.file.inode { return path }
            if job.isOriginalInWork(there) { equal = path }
        }
        return equal
    }
}
