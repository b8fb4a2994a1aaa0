package import DaemonConfiguration
package import DaemonRuntime
import Dispatch
package import InboxWatching
package import JobLedger
package import JobModel
import PipelineModel
import ServiceProgram
package import SystemCalls

/// Takes in pictures from inboxes and clients. Records each picture in the ledger, and makes a job of the picture once
/// the record is durable.
@Coordination
package final class JobIntake: IntakeSink {
    package let ledger: Ledger
    package let configuration: ConfigurationInForce
    package let claims: ClaimFolders
    let inboxes: Inboxes
    let jobs: JobQueue
    private let recovery: Recovery
    private nonisolated let owners = UserNames()
    /// The open batches of folders in inboxes, by folder.
    var open: [DroppedFolder: Int] = [:]
    package weak var events: (any DaemonEvents)?

    package init(
        _ ledger: Ledger, _ configuration: ConfigurationInForce, _ claims: ClaimFolders, _ inboxes: Inboxes,
        _ jobs: JobQueue, _ recovery: Recovery
    ) {
        (self.ledger, self.configuration, self.claims) = (ledger, configuration, claims)
        (self.inboxes, self.jobs, self.recovery) = (inboxes, jobs, recovery)
    }

    // MARK: - For inboxes

    package nonisolated func knows(source: String) throws -> Bool { try ledger.knows(source: source) }

    package nonisolated func forEachKnown(in folder: String, _ each: (String) -> Void) throws {
        try ledger.forEachKnown(in: folder, each)
    }

    package nonisolated func needsClaims(in folder: String) throws -> Bool {
        try ledger.needsClaims(below: FileSystem.join(folder, ClaimFolder.name))
    }

    package nonisolated func isOriginal(_ source: String, as path: String, _ file: FileStatus.Identity) throws -> Bool {
        try recovery.isOriginal(source, as: path, file)
    }

    package nonisolated func kept(in folder: String) throws -> KeptFiles { KeptFiles(try ledger.kept(in: folder)) }

    package nonisolated func changed(_ inbox: Inbox) { Coordination.async { self.events?.inboxChanged() } }

    package nonisolated func accept(
        _ claims: [Claim], from inbox: Inbox, counted: @escaping @Sendable () -> Void,
        done: @escaping @Sendable () -> Void
    ) {
        let lists = claims.filter { FileNames.isList($0.path) && !$0.cancelled }
        let claims = claims.filter { !FileNames.isList($0.path) || $0.cancelled }
        guard lists.isEmpty else { return accept(lists, and: claims, from: inbox, counted: counted, done: done) }
        let names = Set(claims.map(\.owner)).reduce(into: [:]) { $0[$1] = owners.name($1) }
        Coordination.async { [self] in
            let order = configuration.order(for: inbox.recipe)
            let now = Timestamp.now()
            var batches: [Int: BatchRecord] = [:]
            let records = claims.map { claim in
                let batch = claim.folder.map { self.batch(of: $0, in: inbox.folder) }
                if let batch { batches[batch.id] = batch }
                var record = newRecord(
                    order: order, path: claim.path, source: claim.source, origin: claim.origin,
                    file: claim.file, batch: batch?.id,
                    state: claim.cancelled || inbox.cancels(claimed: claim.path) ? .cancelled : .queued, at: now)
                record.owner = Int(claim.owner)
                record.cause = names[claim.owner].map { "dropped by user \($0)" }
                return record
            }
            enter(records, batches: Array(batches.values), done: done)
            counted()
        }
    }

    // MARK: - Records

    func newRecord(
        order: WorkOrder, path: String, source: String, origin: JobRecord.Origin, file: FileStatus.Identity,
        batch: Int? = nil, state: JobState = .queued, at now: Double
    ) -> JobRecord {
        let (id, position) = jobs.numbers.takeJobs()
        return JobRecord(
            id: id, position: position, batch: batch, order: order, path: path, origin: origin, source: source,
            file: file, state: state, created: now, finished: state.isFinal ? now : nil,
            priority: order.priority.rank)
    }

    /// Records new jobs, and calls `done` when they are durable. If the ledger refuses the record of a file, the daemon
    /// makes no job. The file stays claimed, and the next start takes it in.
    package func enter(
        _ records: [JobRecord], _ listed: ListedJobs? = nil, batches: [BatchRecord] = [], isAsked: Bool = false,
        done: @escaping @Sendable () -> Void, refused: (@Sendable () -> Void)? = nil
    ) {
        count(records, listed, 1)
        ledger.insert(records, listed, batches: batches, isAsked: isAsked) { [self] in
            done()
            Coordination.async { [self] in
                for record in records where record.state.isFinal && !record.disposed { events?.jobEnded(record) }
                jobs.fill(inserted: records)
                if let listed { jobs.fill(arrived: listed.highestPriority) }
            }
        } refused: { [self] in
            Coordination.async { [self] in
                count(records, listed, -1)
                // The client gets an error, so the daemon must not enter any of the jobs after all.
                if isAsked, ledger.problem != nil { return (refused ?? done)() }
                let records = records + (listed.map { listed in (0..<listed.count).map(listed.record) } ?? [])
                guard records.count > 1 else {
                    if refused == nil {
                        Log.failure("\(records.first?.source ?? "") stays there, and is taken in at the next start")
                    }
                    events?.jobsRefused()
                    return (refused ?? done)()
                }
                // Enters the records one by one, so that the daemon leaves out only the record that the ledger refuses.
                let group = DispatchGroup()
                for record in records {
                    group.enter()
                    enter([record], batches: batches) { group.leave() }
                }
                Coordination.notify(group, done)
            }
        }
    }

    private func count(_ records: [JobRecord], _ listed: ListedJobs?, _ sign: Int) {
        for record in records { jobs.add(sign, to: record.state) }
        guard let listed else { return }
        jobs.add(sign * (listed.count - listed.wrong), to: .queued)
        jobs.add(sign * listed.wrong, to: .failed)
    }

    /// Records new jobs that depend on the jobs in `others`.
    package func enter(
        _ records: [JobRecord], batches: [BatchRecord] = [], after others: [Int],
        done: @escaping Done<NeedsAnswer>
    ) {
        ledger.insert(records, batches: batches, after: others) { answer in Coordination.async { done(answer) } }
    }
}
