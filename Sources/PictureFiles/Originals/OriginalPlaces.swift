import Glibc
package import InboxWatching
package import JobLedger
import PipelineModel
import Synchronization
package import SystemCalls

/// Finds out where the original of a job lies, and where work on it can begin.
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

    /// The same for the moves of a moment: each claim folder stays open from its first use.
    func openingOnce() -> OriginalPlaces {
        let open = OpenClaims()
        return OriginalPlaces(ledger, places) { [claims] inbox in try open.folder(of: inbox, claims) }
    }

    package func status(_ path: String, of job: JobRecord) throws -> FileStatus? { try spot(path, of: job)?.status() }

    package func spot(_ path: String, of job: JobRecord) throws -> FilePlace? {
        try job.spot(of: path) { try claims(job.order.inbox) }
    }

    /// The place that has the original, of these: the same file, or an equal one when it was copied to another disk.
    package func place(of job: JobRecord, among candidates: [String]) throws -> String? {
        let found = try candidates.compactMap { path in try status(path, of: job).map { (path, $0.identity) } }
        let same = found.first { $0.1.inode == job.file.inode }
        return (same ?? found.first { job.isUnchangedOriginal($0.1) })?.0
    }

    /// A place to begin from that no job has; of those in `free` this is known. Another file may lie there. An original
    /// that was never moved stays where it is.
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

    /// The places that these jobs would begin from first, without those that a job has. For many jobs, one question costs
    /// less than many.
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

/// Claim folders that are open for a while.
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
    /// Whether originals in work lie here, in the spool or among the claimed files of an inbox.
    package func isWorkplace(of job: JobRecord, _ path: String, _ order: WorkOrder) -> Bool {
        FileSystem.lies(path, within: job.origin == .spooled ? spool : FileSystem.join(order.inbox, ClaimFolder.name))
    }
}

extension JobRecord {
    /// The spot at this path; nil when the folder around it does not exist. `claims` opens the job's inbox. This throws
    /// when the inbox may be away, with the originals in it: then its disk is not mounted.
    package func spot(of path: String, in claims: () throws -> ClaimFolder) throws -> FilePlace? {
        guard origin == .claimed, FileSystem.lies(path, within: order.inbox) else { return FilePlace(path) }
        let folder: ClaimFolder
        do {
            folder = try claims()
        } catch let error as SystemError where error.isMissing {
            guard try file.isDiskThere(at: order.inbox) else { throw error }
            return nil
        }
        do {
            return try folder.spot(path)
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw error
        }
    }
}

extension FileStatus.Identity {
    /// Whether the disk of this file is mounted where the missing `path` was: the nearest folder above is on it.
    package func isDiskThere(at path: String) throws -> Bool {
        var folder = FileSystem.folder(of: path)
        while true {
            if let there = try FileSystem.status(folder) { return there.identity.device == device }
            folder = FileSystem.folder(of: folder)
        }
    }
}
