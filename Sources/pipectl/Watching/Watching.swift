import PipelineControl

/// Follows the events, and asks for the status when they say that it has changed: at most ten times a second, and once a second
/// while something is going on, for the remaining time to count down.
struct Watching {
    let context: Context
    let untilIdle: Bool
    private let needsStatus: Bool
    private let events: ControlClient
    private let interrupts: Interrupts
    private var view: any EventView
    private var progress: Progress
    /// Something came since the last status.
    private var stale = true
    private var refreshed = -Double.infinity

    private static let refreshInterval = 0.1
    private static let activeInterval = 1.0

    init(context: Context, since: Int?, untilIdle: Bool) throws {
        self.context = context
        self.untilIdle = untilIdle
        interrupts = try Interrupts()
        let live = context.output.isTerminal && !context.json
        needsStatus = untilIdle || live
        view = live ? ProgressView(output: context.output) : EventLines(output: context.output, json: context.json)
        let status = try context.call(Call.Status()).status
        let cursor = since ?? status.cursor
        progress = Progress(status: status, since: cursor, now: Moment.now())
        events = try context.connect()
        try events.start(Call.Watch(cursor: cursor))
    }

    mutating func run() throws -> ExitCode {
        do {
            return try follow()
        } catch {
            try? view.finish(progress, now: Moment.now())
            throw error
        }
    }

    private mutating func follow() throws -> ExitCode {
        while true {
            try refresh()
            if untilIdle, !stale, progress.isIdle, progress.isCaughtUp { return try end() }
            switch interrupts.wait(for: events.socket, milliseconds: timeout) {
            case .readable:
                for reply in try events.receive(Call.Watch.self) { try take(reply.events) }
            case .timeout:
                // Idle, and for a second nothing came: what is not here by now was before this watch.
                if untilIdle, !stale, progress.isIdle { return try end() }
                stale = true
            case .interrupted:
                try view.finish(progress, now: Moment.now())
                return .interrupted
            }
        }
    }

    private mutating func take(_ changes: [Control.Event]) throws {
        let now = Moment.now()
        for event in changes { progress.take(event, now: now) }
        try view.show(changes)
        stale = true
    }

    private mutating func refresh() throws {
        let now = Moment.now()
        guard needsStatus, stale, now - refreshed >= Self.refreshInterval else { return }
        progress.take(try context.call(Call.Status()).status)
        refreshed = now
        stale = false
        try view.draw(progress, now: now)
    }

    private var timeout: Int? {
        guard needsStatus else { return nil }
        if stale { return max(1, Int((Self.refreshInterval - (Moment.now() - refreshed)) * 1000)) }
        return progress.isIdle && !untilIdle ? nil : Int(Self.activeInterval * 1000)
    }

    private mutating func end() throws -> ExitCode {
        try view.finish(progress, now: Moment.now())
        return progress.failed + progress.cancelled == 0 ? .done : .failed
    }
}
