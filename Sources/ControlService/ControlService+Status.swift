import DaemonRuntime
import Dispatch
import InboxWatching
import JobFlow
package import JobLedger
package import JobModel
import OperationGraph
import PictureFiles
package import PipelineControl
package import PipelineModel
import Synchronization
import SystemCalls
import WorkerPools
import WorkerProtocol

extension ControlService {
    func addStatusCalls() {
        onOwners(Call.Status.self) { [self] _, request in
            let status = status()
            owners.pool.report { [self] report in
                var status = status
                status.workers = report.workers
                if let problem = report.problem { status.problems.append(problem) }
                let known = status
                owners.fetch.report { [self] problem in
                    var status = known
                    if let problem { status.problems.append(problem) }
                    let reply = status
                    Coordination.async { [self] in answer(reply, request) }
                }
            }
        }
        onOwners(Call.WhyWaiting.self) { [self] call, request in
            let who = try waiters(call)
            let queues = waitReasons()
            FileLanes.ledger.async { [self] in
                do {
                    let reasons = try reasons(of: who, queues)
                    request.reply(Call.WhyWaiting.Reply(waiting: reasons))
                } catch {
                    request.fail(ControlError.unread(error))
                }
            }
        }
    }
}

@Coordination
extension ControlService {
    private func answer(_ status: Control.Overview, _ request: ControlRequest) {
        owners.disks.look { [self] disks in
            let status = status.with(disks)
            // Counting rows takes time, so the reasons are added on the ledger's lane.
            FileLanes.ledger.async { [self] in request.reply(Call.Status.Reply(status: withReasons(status))) }
        }
    }

    package func status() -> Control.Overview {
        var jobs = Control.Jobs()
        let reports = owners.inboxes.all.map { ($0, $0.report) }
        let settling = reports.reduce(0) { $0 + $1.1.settling }
        let queued = queuedCounts()
        let waiting = waitReasons().map { Control.Waiting(reason: $0.reason, jobs: queued[$0.entry] ?? 0) }
            .filter { $0.jobs > 0 }
        let behindQueues = waiting.reduce(0) { $0 + $1.jobs }
        jobs.waiting = settling + max(0, owners.jobs.counts[.waiting]) + behindQueues
        jobs.queued = queued.values.reduce(0, +) - behindQueues
        jobs.running = owners.jobs.counts[.running]
        jobs.cancelling = owners.jobs.counts[.cancelling]
        jobs.done = owners.jobs.counts[.done]
        jobs.failed = owners.jobs.counts[.failed]
        jobs.cancelled = owners.jobs.counts[.cancelled]
        jobs.ignored = reports.reduce(0) { $0 + $1.1.ignored }
        return Control.Overview(
            version: version, started: Timestamp.text(owners.started), root: places.root,
            stopping: owners.shutdown.isStopping, jobs: jobs, waiting: waiting, queues: queueReports(queued),
            inboxes: reports.map { inbox, report in
                Control.Inbox(
                    path: inbox.folder, recipe: inbox.recipe.name, watch: report.watch, settling: report.settling,
                    ignored: report.ignored, problem: report.whyNothing)
            },
            ignored: reports.flatMap { $0.1.ignoredFiles }.map { Control.Ignored(path: $0.path, reason: $0.reason) },
            workers: 0, cursor: ledger.cursor, problems: owners.problems + reports.compactMap(\.1.stuckProblem),
            kept: [], disks: [],
            fleet: owners.fleet.report)
    }

    /// The queues that start no operations at present, each with the reason.
    nonisolated func waitReasons() -> [(entry: FirstQueue, reason: String)] {
        FirstQueue.allCases.compactMap { entry in owners.queues.waitReason(entry, ledger).map { (entry, $0) } }
    }

    /// Number of queued jobs by the first queue of each job. If the ledger can't be read, all of them count for
    /// `render`, and the status reports the error as a problem.
    private func queuedCounts() -> [FirstQueue: Int] {
        let all = max(0, owners.jobs.counts[.queued])
        let downloads = all == 0 ? 0 : (try? ledger.queuedDownloads(among: all)) ?? 0
        return [.download: downloads, .render: all - downloads]
    }

    /// Adds the reasons why jobs wait, and the kept files.
    nonisolated func withReasons(_ status: Control.Overview) -> Control.Overview {
        var status = status
        status.waiting += status.inboxes.map { Control.Waiting(reason: $0.problem ?? "settling", jobs: $0.settling) }
        do {
            status.waiting += try ledger.waiting().map(\.shown)
            status.kept = try kept()
        } catch {
            if let reason = ledger.unreadableReason, !status.problems.contains(reason) {
                status.problems.append(reason)
            }
        }
        status.waiting = status.waiting.grouped
        return status
    }

    func waiters(_ call: Call.WhyWaiting) throws(ControlError) -> Ledger.Waiters {
        guard let batch = call.batch else {
            try check(call.ids)
            return call.ids.isEmpty ? .all : .these(call.ids)
        }
        guard call.ids.isEmpty else { throw .badValue("WhyWaiting takes either IDs or a batch") }
        try check(batch: batch)
        return .batch(batch)
    }

    /// The reasons why these jobs wait. A queued job counts as waiting while its queue starts no operations.
    nonisolated func reasons(
        of who: Ledger.Waiters, _ queues: [(entry: FirstQueue, reason: String)]
    ) throws -> [Control.Waiting] {
        let queued = try queues.map { Control.Waiting(reason: $0.reason, jobs: try ledger.queued(who, $0.entry)) }
        return (queued + (try ledger.waiting(who)).map(\.shown)).grouped
    }

    func queueReports() -> [String: Control.Queue] { queueReports(queuedCounts()) }

    private func queueReports(_ queued: [FirstQueue: Int]) -> [String: Control.Queue] {
        var reports: [String: Control.Queue] = [:]
        owners.limits.lookAtProcessors()
        let queues = owners.queues
        for queue in queues.all {
            let report = queue.report
            let waiting =
                switch queue.name {
                case queues.download.name: queued[.download] ?? 0
                case queues.render.name:
                    (queued[.render] ?? 0)
                        + owners.jobs.all.count { $0.download?.state == .finished && !$0.render.hasBegun }
                case queues.publish.name:
                    owners.jobs.all.count { $0.render.image != nil && $0.publish?.hasBegun == false }
                default: owners.jobs.all.count { $0.publish?.state == .finished && $0.announce?.hasBegun == false }
                }
            reports[queue.name] = Control.Queue(
                configured: report.configured, effective: report.effective, running: report.running, waiting: waiting,
                paused: report.paused, reason: report.reason, automatic: queue.automaticCount)
        }
        return reports
    }

    /// A job as clients see it. While its queue starts no operations, a queued job is shown as waiting, with the
    /// reason. If the original can't be moved, the job shows that reason.
    package nonisolated func shown(_ record: JobRecord) -> Control.Job {
        let waits = record.state == .queued ? owners.queues.waitReason(record.entry, ledger) : nil
        let stays = record.disposed ? nil : owners.originals.reason(for: record.id)
        return record.shown(state: waits == nil ? record.state : .waiting, reason: waits ?? stays ?? record.reason)
    }
}

extension InboxReport {
    /// Describes the files that can't be claimed.
    fileprivate var stuckProblem: String? {
        guard let (path, reason) = stuckFile else { return nil }
        let others = stuck.count - 1
        return "\(path): \(reason)" + (others > 0 ? " (and \(others) more, in `pipectl ignored`)" : "")
    }
}

extension JobRecord {
    package func shown(state: JobState, reason: String?) -> Control.Job {
        let isOver = state.isFinal
        let reason = state == .waiting && waitReason == .retry ? reason.map(sayingWhen) : reason
        var milliseconds: Double?
        if isOver, let started, let finished { milliseconds = ((finished - started) * 10_000).rounded() / 10 }
        return Control.Job(
            id: id, batch: batch, recipe: order.recipe, input: path, url: url.map(WebAddress.shown),
            state: state.rawValue, reason: reason,
            outputs: isOver || former != nil ? outputs.map(\.path) : [], error: isOver ? error : nil,
            created: Timestamp.text(created),
            finished: isOver ? finished.map(Timestamp.text) : nil, before: story?.before?.shown,
            after: isOver || former != nil ? (story?.after ?? []).map(\.shown) : [], milliseconds: milliseconds,
            failure: failure?.rawValue, setbacks: setbacks, due: isOver ? nil : due.map(Timestamp.text),
            redo: former != nil ? "underway" : redoEnd?.rawValue,
            bytes: needsDownload ? nil : Int(file.size))
    }
}

extension [Control.Waiting] {
    /// Merges equal reasons, and sorts the most frequent first.
    fileprivate var grouped: [Control.Waiting] {
        let jobs = reduce(into: [String: Int]()) { $0[$1.reason, default: 0] += $1.jobs }
        return jobs.filter { $0.value > 0 }.map { Control.Waiting(reason: $0.key, jobs: $0.value) }
            .sorted { ($1.jobs, $0.reason) < ($0.jobs, $1.reason) }
    }
}

extension JobRecord {
    /// Rewrites the retry's time in the reason. The text may be outdated: the time may have been changed, and it
    /// contains the date unless the retry is today.
    private func sayingWhen(_ reason: String) -> String {
        guard let due, let rest = reason.firstRange(of: " (") else { return reason }
        return "retry at \(Timestamp.local(due))\(reason[rest.lowerBound...])"
    }
}

extension Ledger.Waiting {
    package var shown: Control.Waiting {
        let words = reason ?? (waitReason == .after ? "the end of other jobs" : "no reason is recorded")
        guard waitReason == .retry, let due else { return Control.Waiting(reason: words, jobs: count) }
        let first = count > 1 ? ", the first" : ""
        return Control.Waiting(reason: "retry\(first) at \(Timestamp.local(due)): \(words)", jobs: count)
    }
}

extension JobStory.Picture {
    package var shown: Control.Picture {
        Control.Picture(format: format, width: width, height: height, bytes: bytes, pages: pages)
    }
}
