import PipelineControl

/// Prints events as they arrive, and on a terminal also shows the progress. After events that change the daemon's
/// status, requests the status again, at most ten times a second.
struct Watching: Following {
    enum Scope: Equatable {
        case everything
        /// Ends when `pipectl wait` would return.
        case untilIdle
        case batch(Int)
    }

    private let context: Context
    private let scope: Scope
    /// Whether to print progress as it changes, besides the events.
    private let printsProgress: Bool
    private let needsStatus: Bool
    private let events: ControlClient
    private let progress: ControlClient?
    /// The connection for a `Wait` call. The call begins when no job is left, and ends when the last originals are in
    /// their final folders.
    private var rest: ControlClient?
    private var isAtRest = false
    private let interrupts: Interrupts
    private let lines: EventLines
    private var screen: LiveScreen?
    private var seen: Seen
    private var latest: Call.Progress.Reply?
    private var batchIsOver = false
    /// Lines to print above the next picture.
    private var passing: [Text] = []
    /// Whether the status must be requested again.
    private var stale = true
    private var refreshed = -Double.infinity

    private static let refreshInterval = 0.1

    init(context: Context, since: Int?, scope: Scope, printsProgress: Bool) throws {
        (self.context, self.scope, self.printsProgress) = (context, scope, printsProgress)
        interrupts = try Interrupts(context.invocation)
        let isLive = context.output.isTerminal && !context.json
        needsStatus = scope != .everything || isLive
        screen = isLive ? LiveScreen(output: context.output) : nil
        lines = EventLines(output: context.output, json: context.json)
        let status = try context.call(Call.Status()).status
        let cursor = since ?? status.cursor
        seen = Seen(status: status, since: cursor, now: Moment.now())
        var batch: Int?
        if case .batch(let id) = scope { batch = id }
        progress = isLive || printsProgress || batch != nil ? try context.connect() : nil
        try progress?.start(Call.Progress(batch: batch))
        events = try context.connect()
        try events.start(Call.Watch(cursor: cursor))
    }

    func outcome(of end: EarlyEnd) throws -> ExitCode {
        switch (end, scope) {
        case (.interrupted, _), (_, .everything): return end.code
        case (.timedOut, .batch(let id)):
            throw end.failure("batch \(id) goes on; `pipectl watch --batch \(id)` follows it again")
        case (.timedOut, .untilIdle):
            throw end.failure("the jobs go on; `pipectl watch --until-idle` follows them again")
        }
    }

    mutating func follow() throws -> ExitCode {
        while true {
            try refresh()
            if !stale, isOver, seen.isCaughtUp { return code }
            let clients = [events, progress, rest].compactMap(\.self)
            switch try interrupts.wait(for: clients.map(\.socket), milliseconds: timeout) {
            case .readable(let which):
                for client in which.map({ clients[$0] }) { try receive(from: client) }
            case .timeout:
                // The watched work is over, and no event has arrived for a second. Events that still seem to be missing
                // happened before this watch began.
                if !stale, isOver { return code }
                stale = true
            case .resized: stale = true
            }
        }
    }

    private mutating func receive(from client: ControlClient) throws {
        if client === events {
            for reply in try events.receive(Call.Watch.self).replies { try take(reply.events) }
        } else if client === rest {
            if try client.receive(Call.Wait.self).isOver { (rest, isAtRest, stale) = (nil, true, true) }
        } else {
            let (replies, isOver) = try client.receive(Call.Progress.self)
            for reply in replies { try take(reply) }
            // Events that happened before the batch ended may still arrive, so the status must be requested again.
            if isOver { (batchIsOver, stale) = (true, true) }
        }
    }

    private var isOver: Bool {
        switch scope {
        case .everything: false
        case .untilIdle: seen.isIdle && isAtRest
        case .batch: batchIsOver
        }
    }

    private mutating func take(_ changes: [Control.Event]) throws {
        let own = changes.filter(isInScope)
        for event in changes { seen.take(event, counting: isInScope(event)) }
        if screen == nil { try lines.show(own) } else { passing += own.filter(\.isWorthALine).map(\.line) }
        stale = true
    }

    private mutating func take(_ reply: Call.Progress.Reply) throws {
        latest = reply
        if printsProgress {
            try context.output.object(reply)
            try context.output.flush()
        }
        try draw()
    }

    private func isInScope(_ event: Control.Event) -> Bool {
        guard case .batch(let id) = scope else { return true }
        return event.job?.batch == id || event.batch?.id == id
    }

    private mutating func refresh() throws {
        let now = Moment.now()
        guard needsStatus, stale, now - refreshed >= Self.refreshInterval else { return }
        seen.take(try context.call(Call.Status()).status)
        if scope == .untilIdle { try awaitRest() }
        refreshed = now
        stale = false
        try draw()
    }

    private mutating func awaitRest() throws {
        if !seen.isIdle { isAtRest = false }
        guard seen.isIdle, !isAtRest, rest == nil else { return }
        rest = try context.connect()
        try rest?.start(Call.Wait(ids: []))
    }

    private mutating func draw() throws {
        guard var screen, let latest else { return }
        let page = ProgressPage(latest, notes: seen.status.notes)
        try screen.draw(above: passing, page.lines(width: screen.width, height: screen.height))
        self.screen = screen
        passing = []
    }

    private var timeout: Int? {
        guard needsStatus else { return nil }
        if stale { return max(1, Int((Self.refreshInterval - (Moment.now() - refreshed)) * 1000)) }
        return isOver ? 1000 : nil
    }

    mutating func finish() throws {
        guard var screen else { return }
        var summary = seen.summary(now: Moment.now())
        if let latest, !isOver { summary = summary + latest.stillOpen }
        try screen.finish(passing + [summary])
        self.screen = screen
    }

    private var code: ExitCode {
        if case .batch = scope, let batch = latest?.batches.first?.batch {
            return batch.failed == 0 && batch.cancelled == 0 ? .done : .failed
        }
        return seen.failed + seen.cancelled == 0 ? .done : .failed
    }
}

extension Control.Event {
    /// Whether to print the event. Events about a job's progress are not printed, except the job's end.
    fileprivate var isWorthALine: Bool {
        switch kind {
        case "job": job.map { ["done", "failed", "cancelled"].contains($0.state) } ?? false
        case "published", "picture", "over", "removed": false
        default: true
        }
    }
}

extension Control.Overview {
    /// Problems, paused queues and, while nothing runs, the reasons why jobs wait.
    fileprivate var notes: [Text] {
        let paused = queues.filter(\.value.paused).sorted { $0.key < $1.key }.map { name, queue in
            Text("paused: \(name)" + (queue.reason.map { " (\($0))" } ?? ""), .halted)
        }
        // The reasons don't matter while jobs run or are about to run.
        let isStalled = [jobs.running, jobs.queued, jobs.cancelling].sum == 0
        let others = isStalled ? waiting.filter { !$0.reason.hasPrefix("paused") }.lines.map { Text($0, .halted) } : []
        return problems.map { Text("problem: \($0)", .bad) } + paused + others
    }
}
