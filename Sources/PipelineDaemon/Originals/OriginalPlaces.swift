import Glibc
import InboxWatching
import JobLedger
import PipelineModel
import SystemCalls

/// Finds out where the original of a job lies, and where work on it can begin.
struct OriginalPlaces: Sendable {
    let ledger: Ledger
    let places: Places
    let claims: ClaimFolders

    func status(_ path: String, of job: JobRecord) throws -> FileStatus? { try spot(path, of: job)?.status() }

    func spot(_ path: String, of job: JobRecord) throws -> Spot? {
        try job.spot(of: path) { try claims.open(job.order.inbox) }
    }

    /// The place that has the original, of these: the same file, or an equal one when it was copied to another disk.
    func place(of job: JobRecord, among candidates: [String]) throws -> String? {
        let found = try candidates.compactMap { path in try status(path, of: job).map { (path, $0.identity) } }
        let same = found.first { $0.1.inode == job.file.inode }
        return (same ?? found.first { ($0.1.size, $0.1.modified) == (job.file.size, job.file.modified) })?.0
    }

    /// A free place to begin from. An original that was never moved stays where it is.
    func start(of job: JobRecord, for order: WorkOrder, except taken: Set<String>) throws -> String {
        if job.needsDownload { return Spool.download(in: places.spool) }
        if job.origin == .kept || places.isWorkplace(of: job, job.source, order) { return job.source }
        let claims = job.origin == .claimed ? try claims.open(order.inbox) : nil
        for number in 0... {
            let spooled = Spool.place(bringingBack: job.id, as: FileSystem.name(of: job.path), in: places.spool)
            let place =
                claims?.place(number, of: job.path)
                ?? (number == 0 ? spooled : ResultName.numbered(spooled, number))
            if taken.contains(place) { continue }
            if try !ledger.knows(source: place) && (claims?.status(place) ?? FileSystem.status(place)) == nil {
                return place
            }
        }
        throw SystemError("rename", job.path, code: EEXIST)
    }
}

extension Places {
    /// Whether originals in work lie here, in the spool or among the claimed files of an inbox.
    func isWorkplace(of job: JobRecord, _ path: String, _ order: WorkOrder) -> Bool {
        FileSystem.lies(path, within: job.origin == .spooled ? spool : FileSystem.join(order.inbox, ClaimFolder.name))
    }
}

extension JobRecord {
    /// The spot at this path; nil when the folder around it does not exist. `claims` opens the job's inbox: it throws
    /// when that may be away, with the originals in it.
    func spot(of path: String, in claims: () throws -> ClaimFolder) throws -> Spot? {
        guard origin == .claimed, FileSystem.lies(path, within: order.inbox) else { return Spot(path) }
        let folder = try claims()
        do {
            return try folder.spot(path)
        } catch {
            if error.code == ENOENT || error.code == ENOTDIR { return nil }
            throw error
        }
    }
}
