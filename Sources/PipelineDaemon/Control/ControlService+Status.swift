import DaemonRuntime
import Dispatch
import InboxWatching
import OperationGraph
import PipelineControl
import PipelineModel
import Synchronization
import WorkerPools
import WorkerProtocol

extension ControlService {
    func addStatusCalls() {
        let version = version
        onSupervisor(Call.Status.self) { [supervisor] _, request in
            let status = supervisor.status(version: version)
            supervisor.pool.report { workers, problem in
                var status = status
                status.workers = workers
                if let problem { status.problems.append(problem) }
                let known = status
                supervisor.fetch.report { problem in
                    var status = known
                    if let problem { status.problems.append(problem) }
                    let reply = status
                    // Rows are counted: others have their turn meanwhile.
                    supervisor.files.async {
                        request.reply(Call.Status.Reply(status: supervisor.withReasons(reply)))
                    }
                }
            }
        }
        onSupervisor(Call.WhyWaiting.self) { [supervisor] call, request in
            let who = try supervisor.waiters(call)
            let held = Entry.allCases.compactMap { entry in supervisor.heldReason(entry).map { (entry, $0) } }
            supervisor.files.async {
                do {
                    let reasons = try supervisor.reasons(of: who, held: held)
                    request.reply(Call.WhyWaiting.Reply(waiting: reasons))
                } catch {
                    request.fail(ControlError.unread(error))
                }
            }
        }
    }
}

extension Supervisor {
    func status(version: String) -> Control.Overview {
        var jobs = Control.Jobs()
        let reports = inboxes.map { ($0, $0.report) }
        let settling = reports.reduce(0) { $0 + $1.1.settling }
        let queued = queuedCounts()
        let held = Entry.allCases.compactMap { entry in
            heldReason(entry).map { Control.Waiting(reason: $0, jobs: queued[entry] ?? 0) }
        }.filter { $0.jobs > 0 }
        let heldCount = held.reduce(0) { $0 + $1.jobs }
        jobs.waiting = settling + max(0, counts[.waiting] ?? 0) + heldCount
        jobs.queued = queued.values.reduce(0, +) - heldCount
        jobs.running = counts[.running] ?? 0
        jobs.cancelling = counts[.cancelling] ?? 0
        jobs.done = counts[.done] ?? 0
        jobs.failed = counts[.failed] ?? 0
        jobs.cancelled = counts[.cancelled] ?? 0
        jobs.ignored = reports.reduce(0) { $0 + $1.1.ignored }
        return Control.Overview(
            version: version, started: Timestamp.text(started), root: places.root, stopping: stopping, jobs: jobs,
            waiting: held, queues: queueReports(),
            inboxes: reports.map { inbox, report in
                Control.Inbox(
                    path: inbox.folder, recipe: inbox.recipe.name, watch: report.watch, settling: report.settling,
                    ignored: report.ignored, problem: report.whyNothing)
            },
            ignored: reports.flatMap { $0.1.ignoredFiles }.map { Control.Ignored(path: $0.path, reason: $0.reason) },
            workers: 0, cursor: ledger.cursor, problems: problems)
    }

    /// Queued jobs, by the queue that they begin in. An unreadable ledger is told among the problems.
    private func queuedCounts() -> [Entry: Int] {
        let all = max(0, counts[.queued] ?? 0)
        let downloads = all == 0 ? 0 : min(all, (try? ledger.queuedCount(.download)) ?? 0)
        return [.download: downloads, .render: all - downloads]
    }

    /// With what the waiting ones wait for.
    nonisolated func withReasons(_ status: Control.Overview) -> Control.Overview {
        var status = status
        let settling = status.inboxes.reduce(0) { $0 + $1.settling }
        if settling > 0 { status.waiting.append(Control.Waiting(reason: "settling", jobs: settling)) }
        do {
            status.waiting += try ledger.waiting().map(\.shown)
        } catch {
            if let unreadReason, !status.problems.contains(unreadReason) { status.problems.append(unreadReason) }
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

    /// Why these jobs wait. A queued job waits for its queue when that begins nothing.
    nonisolated func reasons(of who: Ledger.Waiters, held: [(entry: Entry, reason: String)]) throws -> [Control.Waiting]
    {
        let queued = try held.map { Control.Waiting(reason: $0.reason, jobs: try ledger.queued(who, $0.entry)) }
        return (queued + (try ledger.waiting(who)).map(\.shown)).grouped
    }

    func queueReports() -> [String: Control.Queue] {
        let queued = queuedCounts()
        var reports: [String: Control.Queue] = [:]
        lookAtProcessors()
        for queue in queues {
            let report = queue.report
            let waiting =
                switch queue.name {
                case download.name: queued[.download] ?? 0
                case render.name:
                    (queued[.render] ?? 0)
                        + window.all.count { $0.download?.state == .finished && !$0.render.hasBegun }
                case publish.name: window.all.count { $0.render.image != nil && $0.publish?.hasBegun == false }
                default: window.all.count { $0.publish?.state == .finished && $0.announce?.hasBegun == false }
                }
            reports[queue.name] = Control.Queue(
                configured: report.configured, effective: report.effective, running: report.running, waiting: waiting,
                paused: report.paused, reason: report.reason, automatic: queue.automaticCount)
        }
        return reports
    }

    /// A job as clients see it. One that is queued while none begins waits, and says so; so does one whose original can't be moved.
    nonisolated func shown(_ record: JobRecord) -> Control.Job {
        let held = record.state == .queued ? heldReason(record.entry) : nil
        let stays = record.disposed ? nil : stuck.withLock { $0[record.id]?.reason }
        return record.shown(state: held == nil ? record.state : .waiting, reason: held ?? stays ?? record.reason)
    }
}

extension JobRecord {
    func shown(state: JobState, reason: String?) -> Control.Job {
        let isOver = state.isFinal
        let reason = state == .waiting && hold == .retry ? reason.map(sayingWhen) : reason
        var milliseconds: Double?
        if isOver, let started, let finished { milliseconds = ((finished - started) * 10_000).rounded() / 10 }
        return Control.Job(
            id: id, batch: batch, recipe: order.recipe, input: path, url: url.map(WebAddress.shown),
            state: state.rawValue, reason: reason,
            outputs: isOver ? outputs : [], error: isOver ? error : nil, created: Timestamp.text(created),
            finished: isOver ? finished.map(Timestamp.text) : nil, before: story?.before?.shown,
            after: isOver ? (story?.after ?? []).map(\.shown) : [], milliseconds: milliseconds,
            failure: failure?.rawValue, setbacks: setbacks, due: isOver ? nil : due.map(Timestamp.text))
    }
}

extension [Control.Waiting] {
    /// The most frequent first, each reason once.
    fileprivate var grouped: [Control.Waiting] {
        let jobs = reduce(into: [String: Int]()) { $0[$1.reason, default: 0] += $1.jobs }
        return jobs.filter { $0.value > 0 }.map { Control.Waiting(reason: $0.key, jobs: $0.value) }
            .sorted { ($1.jobs, $0.reason) < ($0.jobs, $1.reason) }
    }
}

extension JobRecord {
    /// The time of the next try, or its day, may have changed since the reason was recorded.
    private func sayingWhen(_ reason: String) -> String {
        guard let due, let rest = reason.firstRange(of: " (") else { return reason }
        return "retry at \(Timestamp.local(due))\(reason[rest.lowerBound...])"
    }
}

extension Ledger.Waiting {
    var shown: Control.Waiting {
        let words = reason ?? (hold == .after ? "the end of other jobs" : "no reason is recorded")
        guard hold == .retry, let due else { return Control.Waiting(reason: words, jobs: count) }
        let first = count > 1 ? ", the first" : ""
        return Control.Waiting(reason: "retry\(first) at \(Timestamp.local(due)): \(words)", jobs: count)
    }
}

extension JobStory.Picture {
    var shown: Control.Picture { Control.Picture(format: format, width: width, height: height, bytes: bytes) }
}
