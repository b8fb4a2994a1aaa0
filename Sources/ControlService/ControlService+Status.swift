import DaemonInterface
import DaemonRuntime
import JobModel
import PipelineControl
import PipelineModel
import ServiceProgram
import SystemCalls
import WorkerProtocol

extension ControlService {
    func addStatusCalls() {
        onOwners(Call.Status.self) { [self] _, request in
            daemon.fullStatus { [self] in request.reply(Call.Status.Reply(status: shown($0))) }
        }
        onOwners(Call.WhyWaiting.self) { [self] call, request in
            daemon.waitReasons(of: try waiters(call)) { reasons in
                do {
                    request.reply(Call.WhyWaiting.Reply(waiting: Self.shown(try reasons.get())))
                } catch {
                    request.fail(ControlError.unread(error))
                }
            }
        }
    }

    @Coordination
    private func waiters(_ call: Call.WhyWaiting) throws(ControlError) -> JobGroup {
        guard let batch = call.batch else {
            try check(call.ids)
            return call.ids.isEmpty ? .all : .these(call.ids)
        }
        guard call.ids.isEmpty else { throw .badValue("WhyWaiting takes either IDs or a batch") }
        try check(batch: batch)
        return .batch(batch)
    }

    func shown(_ status: DaemonStatus) -> Control.Overview {
        var jobs = Control.Jobs()
        jobs.waiting = status.jobs[.waiting] ?? 0
        jobs.queued = status.jobs[.queued] ?? 0
        jobs.running = status.jobs[.running] ?? 0
        jobs.cancelling = status.jobs[.cancelling] ?? 0
        jobs.done = status.jobs[.done] ?? 0
        jobs.failed = status.jobs[.failed] ?? 0
        jobs.cancelled = status.jobs[.cancelled] ?? 0
        jobs.ignored = status.ignoredCount
        return Control.Overview(
            version: version, started: Timestamp.text(status.started), root: status.root, stopping: status.isStopping,
            jobs: jobs, waiting: Self.shown(status.waiting), queues: Self.shown(status.queues),
            inboxes: status.inboxes.map {
                Control.Inbox(
                    path: $0.folder, recipe: $0.recipe, watch: $0.watch, settling: $0.settling, ignored: $0.ignored,
                    problem: $0.problem)
            },
            ignored: Self.shown(status.ignored),
            ignoredReasons: status.ignoredReasons.map {
                Control.IgnoredReason(reason: $0.reason, files: $0.files, example: $0.example)
            }, workers: status.workers, cursor: status.cursor,
            problems: status.problems,
            kept: status.kept.map {
                Control.Kept(place: $0.place.rawValue, rule: $0.rule, files: $0.files, bytes: $0.bytes)
            }, disks: status.disks.map { Control.Disk(path: $0.path, bytes: $0.bytes, free: $0.free) },
            fleet: status.fleet.map(Control.Fleet.init))
    }

    static func shown(_ reports: [QueueReport]) -> [String: Control.Queue] {
        reports.reduce(into: [:]) { shown, report in
            let queue = report.queue
            shown[queue.name] = Control.Queue(
                configured: queue.configured, effective: queue.effective, running: queue.running,
                waiting: report.waiting, paused: queue.isPaused, reason: queue.reason, automatic: report.automatic,
                held: report.held)
        }
    }

    private static func shown(_ waiting: [WaitingCount]) -> [Control.Waiting] {
        waiting.map { Control.Waiting(reason: $0.reason, jobs: $0.jobs) }
    }

    static func shown(_ files: [IgnoredFile]) -> [Control.Ignored] {
        files.map { Control.Ignored(path: $0.path, reason: $0.reason) }
    }

    /// A job as clients see it.
    func shown(_ record: JobRecord) -> Control.Job {
        let (state, reason) = daemon.standing(of: record)
        return record.shown(state: state, reason: reason)
    }
}

extension Control.Fleet {
    fileprivate init(_ fleet: FleetReport) {
        self.init(
            name: fleet.name, server: fleet.server, problem: fleet.problem, places: fleet.places, taken: fleet.taken,
            lent: fleet.lent,
            nodes: fleet.nodes.map { node, lacks in
                Control.Node(
                    name: node.name, version: node.version, places: node.places, taken: node.taken, lent: node.lent,
                    lacks: lacks)
            }, silent: fleet.silent)
    }
}

extension JobRecord {
    func shown(state: JobState, reason: String?) -> Control.Job {
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

extension JobRecord {
    /// Rewrites the retry's time in the reason. The recorded text may be outdated: the retry may have been rescheduled,
    /// or the retry is due today and the text still contains the date.
    private func sayingWhen(_ reason: String) -> String {
        guard let due, let rest = reason.firstRange(of: " (") else { return reason }
        return "retry at \(Timestamp.local(due))\(reason[rest.lowerBound...])"
    }
}

extension JobStory.Picture {
    var shown: Control.Picture {
        Control.Picture(format: format, width: width, height: height, bytes: bytes, pages: pages)
    }
}
