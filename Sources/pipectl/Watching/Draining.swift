import PipelineControl

/// Waits until a drain has finished. Meanwhile, shows the progress of the remaining jobs on a terminal.
struct Draining: Following {
    private let drain: ControlClient
    private let progress: ControlClient
    private let interrupts: Interrupts
    private var screen: LiveScreen

    init(context: Context) throws {
        interrupts = try Interrupts(context.invocation)
        screen = LiveScreen(output: context.output)
        progress = try context.connect()
        drain = try context.connect()
        try drain.begin(Call.Drain())
        try progress.start(Call.Progress())
    }

    mutating func finish() throws { try screen.finish([]) }

    func outcome(of end: EarlyEnd) throws -> [String: Control.Queue] {
        throw end.failure("the drain goes on; `pipectl drain` waits for it again, and `pipectl resume` ends it")
    }

    mutating func follow() throws -> [String: Control.Queue] {
        var latest: Call.Progress.Reply?
        while true {
            switch try interrupts.wait(for: [drain.socket, progress.socket], milliseconds: nil) {
            case .readable(let which):
                if which.contains(0), let reply = try drain.receive(Call.Drain.self).replies.last {
                    return reply.queues
                }
                if which.contains(1) { latest = try progress.receive(Call.Progress.self).replies.last ?? latest }
            case .timeout, .resized: break
            }
            if let latest { try screen.draw(lines(of: latest)) }
        }
    }

    private func lines(of progress: Call.Progress.Reply) -> [Text] {
        let jobs = progress.jobs.filter { $0.job.state == "running" || $0.job.state == "cancelling" }
        let head =
            progress.running > 0
            ? "waits for \(Amount.counted(progress.running, "running job"))"
            : "waits for pictures that other machines have, or that are here for them"
        let columns = JobColumns(jobs, width: screen.width)
        return Array(([Text(head, .halted)] + jobs.map(columns.line)).prefix(screen.height))
    }
}
