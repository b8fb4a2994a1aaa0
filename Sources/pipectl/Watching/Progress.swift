import PipelineControl

/// How far the work has come since the watch began. Pure: time is handed in.
struct Progress {
    private(set) var status: Control.Overview
    /// The jobs that ended, by ID: one that is brought back counts as open again.
    private var ended: [Int: Ending] = [:]
    private(set) var failed = 0
    private(set) var cancelled = 0
    private(set) var cursor: Int
    private(set) var latest: [Control.Job] = []
    private var marks: [(time: Double, ended: Int)] = []
    private let began: Double

    private enum Ending {
        case done, failed, cancelled
    }

    private static let shownJobs = 5
    /// The rate is that of the last so many seconds.
    private static let rateSpan = 10.0

    init(status: Control.Overview, since cursor: Int, now: Double) {
        self.status = status
        self.cursor = cursor
        began = now
        marks = [(now, 0)]
    }

    mutating func take(_ event: Control.Event, now: Double) {
        cursor = max(cursor, event.cursor)
        guard event.kind == "job", let job = event.job else { return }
        let ending: Ending? =
            switch job.state {
            case "done": .done
            case "failed": .failed
            case "cancelled": .cancelled
            default: nil
            }
        count(ended[job.id], by: -1)
        count(ending, by: 1)
        ended[job.id] = ending
        guard ending != nil else { return }
        latest.removeAll { $0.id == job.id }
        latest.append(job)
        if latest.count > Self.shownJobs { latest.removeFirst() }
        marks.append((now, ended.count))
        while let first = marks.first, marks.count > 2, now - first.time > Self.rateSpan { marks.removeFirst() }
    }

    private mutating func count(_ ending: Ending?, by step: Int) {
        if ending == .failed { failed += step }
        if ending == .cancelled { cancelled += step }
    }

    mutating func take(_ status: Control.Overview) {
        self.status = status
    }

    var done: Int { ended.count }
    var open: Int {
        [status.jobs.waiting, status.jobs.queued, status.jobs.running, status.jobs.cancelling].sum
    }
    var known: Int { [done, open].sum }

    /// Nothing waits, runs or is just arriving.
    var isIdle: Bool { open == 0 && status.inboxes.allSatisfy { $0.settling == 0 } }
    /// Every event that the status knows of has come.
    var isCaughtUp: Bool { cursor >= status.cursor }

    /// Jobs a second, of late; nil until that can be said.
    func rate(now: Double) -> Double? {
        guard let first = marks.first, done > first.ended, now > first.time else { return nil }
        return Double(done - first.ended) / (now - first.time)
    }

    func remaining(now: Double) -> Double? {
        rate(now: now).map { Double(open) / $0 }
    }

    func elapsed(now: Double) -> Double { now - began }
}
