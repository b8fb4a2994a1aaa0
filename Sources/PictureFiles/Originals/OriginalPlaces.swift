import Glibc
package import InboxWatching
package import JobLedger
package import JobModel
import PipelineModel
import Synchronization
package import SystemCalls

/// Finds a job's original, and a path from which the original can be processed again.
package struct OriginalPlaces: Sendable {
    package let ledger: Ledger
    package let places: Places
    /// Opens the claim folder of an inbox.
    package let claims: @Sendable (_ inbox: String) throws -> ClaimFolder

    package init(ledger: Ledger, places: Places, claims: ClaimFolders) {
        self.init(ledger, places) { try claims.open($0) }
    }

    private init(
        _ ledger: Ledger, _ places: Places, _ claims: @escaping @Sendable (_ inbox: String) throws -> ClaimFolder
    ) {
        (self.ledger, self.places, self.claims) = (ledger, places, claims)
    }

    /// Returns a copy for one series of moves. The copy opens each claim folder only once, and keeps it open.
    func openingOnce() -> OriginalPlaces {
        let open = OpenClaims()
        return OriginalPlaces(ledger, places) { [claims] inbox in try open.folder(of: inbox, claims) }
    }

    package func status(_ path: String, of job: JobRecord) throws -> FileStatus? {
        try filePlace(path, of: job)?.status()
    }

    package func filePlace(_ path: String, of job: JobRecord) throws -> FilePlace? {
        try job.filePlace(of: path) { try claims(job.order.inbox) }
    }

    /// The path among `candidates` where the original is. Prefers a file with the recorded inode to a file with equal
    /// size and time, which may be a copy on another disk.
    package func place(of job: JobRecord, among candidates: [String]) throws -> String? {
        let found = try candidates.compactMap { path in try status(path, of: job).map { (path, $0.identity) } }
        let same = found.first { $0.1.inode == job.file.inode }
        return (same ?? found.first { job.isUnchangedOriginal($0.1) })?.0
    }

    /// Returns a path from which the original can be processed again. If the original is kept in place or is already in
    /// a workplace, it is not moved, so this is its current path. Otherwise, no job uses the path, but a file may exist
    /// there. `free` contains paths that are known to be unused by jobs, and `taken` contains paths to avoid.
    package func start(
        of job: JobRecord, for order: WorkOrder, except taken: Set<String>, free: Set<String> = []
    ) throws -> String {
        if job.needsDownload { return Spool.download(in: places.spool) }
        if !isMoved(job, order) { return job.source }
        for number in 0... {
            let place = try place(number, of: job, order)
            if taken.contains(place) { continue }
            if try free.contains(place) || !ledger.knows(source: place) { return place }
        }
        throw SystemError("rename", job.path, code: EEXIST)
    }

    /// Returns the paths that `start` tries first for these jobs, except the paths that a job uses already. One query
    /// for many jobs costs less than one query for each job.
    package func free(_ jobs: [(job: JobRecord, order: WorkOrder)]) throws -> Set<String> {
        let moved = jobs.lazy.filter { !$0.job.needsDownload && isMoved($0.job, $0.order) }
        let first = try moved.map { try place(0, of: $0.job, $0.order) }
        return Set(first).subtracting(try ledger.known(among: first))
    }

    private func isMoved(_ job: JobRecord, _ order: WorkOrder) -> Bool {
        job.origin != .kept && !places.isWorkplace(of: job, job.source, order)
    }

    private func place(_ number: Int, of job: JobRecord, _ order: WorkOrder) throws -> String {
        guard job.origin != .claimed else { return try claims(order.inbox).place(number, of: job.path) }
        let spooled = Spool.place(bringingBack: job.id, as: FileSystem.name(of: job.path), in: places.spool)
        return number == 0 ? spooled : ResultName.numbered(spooled, number)
    }
}

/// Claim folders that stay open during a series of moves.
private final class OpenClaims: Sendable {
    private let folders = Mutex<[String: ClaimFolder]>([:])

    func folder(of inbox: String, _ open: (String) throws -> ClaimFolder) throws -> ClaimFolder {
        if let folder = folders.withLock({ $0[inbox] }) { return folder }
        let folder = try open(inbox)
        folders.withLock { $0[inbox] = folder }
        return folder
    }
}

extension Places {
    /// Whether `path` is a workplace: the spool for spooled originals, otherwise the claim folder of the inbox.
    package func isWorkplace(of job: JobRecord, _ path: String, _ order: WorkOrder) -> Bool {
        FileSystem.lies(path, within: job.origin == .spooled ? spool : FileSystem.join(order.inbox, ClaimFolder.name))
    }
}

extension JobRecord {
    /// The folder and the name of the file at this path; nil if the folder does not exist. `claims` opens the claim
    /// folder of the job's inbox. Throws if the inbox is missing and the disk with the originals may be unmounted.
    package func filePlace(of path: String, in claims: () throws -> ClaimFolder) throws -> FilePlace? {
        guard origin == .claimed, FileSystem.lies(path, within: order.inbox) else { return FilePlace(path) }
        let folder: ClaimFolder
        do {
            folder = try claims()
        } catch let error as SystemError where error.isMissing {
            guard try file.isDiskThere(at: order.inbox) else { throw error }
            return nil
        }
        do {
            return try folder.filePlace(path)
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw error
        }
    }
}

extension FileStatus.Identity {
    /// Whether the disk of this file is mounted where the missing `path` should be: the nearest existing folder above
    /// `path` must be on that disk.
    package func isDiskThere(at path: String) throws -> Bool {
        var folder = FileSystem.folder(of: path)
        while true {
            if let there = try FileSystem.status(folder) { return there.identity.device == device }
            folder = FileSystem.folder(of: folder)
        }
    }
}
