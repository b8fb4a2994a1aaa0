import Glibc
import PipelineControl
import SystemCalls

/// Prints each job when it ends. On a terminal, a progress bar stays below these lines. If no job ends for a while,
/// prints the reasons why jobs wait.
struct Waiting: Following {
    /// If no job ends for `patience` seconds, this program asks the daemon why jobs wait. After that, it asks every
    /// `pause` seconds.
    private static let (patience, pause) = (1.0, 5.0)

    private let context: Context
    /// The jobs to wait for. Empty means all jobs of the batch, or all jobs if there is no batch.
    private let ids: [Int]
    private let wanted: Set<Int>
    private let batch: Int?
    private var ended: Set<Int> = []
    private var code = ExitCode.done
    /// Nil if the output is not a terminal.
    private var screen: LiveScreen?
    private let progress: ControlClient?
    private var passing: [Text] = []
    private var delay: String?
    private var latest: Call.Progress.Reply?
    private var stall: Stall
    private let interrupts: Interrupts

    init(context: Context, ids: [Int], batch: Int?) throws {
        (self.context, self.ids, self.batch) = (context, ids, batch)
        wanted = Set(ids)
        interrupts = try Interrupts(context.invocation)
        stall = Stall(client: try context.connect(), asksAt: Moment.now() + Self.patience)
        let isLive = context.output.isTerminal && !context.json
        screen = isLive ? LiveScreen(output: context.output) : nil
        progress = isLive ? try context.connect() : nil
        try progress?.start(Call.Progress(batch: ids.isEmpty ? batch : nil))
    }

    /// The batch, if its jobs were not named by ID.
    private var wholeBatch: Int? { ids.isEmpty ? batch : nil }

    mutating func follow() throws -> ExitCode {
        for start in stride(from: 0, to: max(1, ids.count), by: ControlInterface.mostIDs) {
            try wait(for: Array(ids[start..<min(ids.count, start + ControlInterface.mostIDs)]))
        }
        return code
    }

    mutating func finish() throws { try screen?.finish(passing) }

    func outcome(of end: EarlyEnd) throws -> ExitCode {
        guard let words = unfinished else { return code }
        throw end.failure(words)
    }

    private mutating func wait(for some: [Int]) throws {
        let endings = try context.connect()
        try endings.start(Call.Wait(ids: some, batch: wholeBatch))
        while true {
            let sockets = [endings.socket, stall.client.socket] + (progress.map { [$0.socket] } ?? [])
            switch try interrupts.wait(for: sockets, milliseconds: stall.milliseconds) {
            case .readable(let which):
                if which.contains(0) {
                    let (replies, isOver) = try endings.receive(Call.Wait.self)
                    try take(replies.flatMap(\.jobs))
                    for reply in replies { try report(reply) }
                    if isOver { return }
                }
                if which.contains(1), try stall.receive(again: Moment.now() + Self.pause) { try report(stallOf: some) }
                if which.contains(2), let progress {
                    latest = try progress.receive(Call.Progress.self).replies.last ?? latest
                }
            case .timeout: try stall.ask(about: some, batch: wholeBatch)
            case .resized: break
            }
            try draw()
        }
    }

    private mutating func take(_ jobs: [Control.Job]) throws {
        guard !jobs.isEmpty else { return }
        ended.formUnion(jobs.map(\.id))
        stall.isOver(until: Moment.now() + Self.patience)
        if !jobs.allSatisfy(\.succeeded) { code = .failed }
        guard screen == nil else { return passing += jobs.map(\.line) }
        for job in jobs { try context.print(job) }
        try context.output.flush()
    }

    // MARK: - Reasons for waiting

    private mutating func report(_ reply: Call.Wait.Reply) throws {
        defer { delay = reply.waitsFor }
        guard screen == nil, let reason = reply.waitsFor, reason != delay else { return }
        Program.say(reply, "waits: \(reason)", json: context.json)
    }

    /// Without a terminal, prints the reasons once, on standard error, and only when all remaining jobs wait.
    private mutating func report(stallOf some: [Int]) throws {
        guard screen == nil else { return }
        let left = try wholeBatch.map { try context.call(Call.FindBatch(batch: "\($0)")).batch.unended }
        guard let reasons = stall.news(left: left ?? (some.isEmpty ? nil : some.count { !ended.contains($0) }))
        else { return }
        Program.printError(["waiting": reasons], reasons.lines, json: context.json)
    }

    /// Names the jobs that continue without pipectl, and the commands that wait for them again. Nil if all jobs named
    /// on the command line have ended.
    private var unfinished: String? {
        let left = ids.filter { !ended.contains($0) }
        if left.isEmpty, !ids.isEmpty { return nil }
        if let wholeBatch {
            return "batch \(wholeBatch) goes on; `pipectl wait --batch \(wholeBatch)` waits for it again, and "
                + "`pipectl cancel --batch \(wholeBatch)` stops it"
        } else if ids.isEmpty {
            return "the jobs go on; `pipectl wait` waits for them again"
        } else if let batch, left.count > 1 {
            return "\(left.count) jobs of batch \(batch) go on; `pipectl watch --batch \(batch)` follows them, and "
                + "`pipectl cancel --batch \(batch)` stops them"
        } else if left.count <= 20 {
            return "\(left.count == 1 ? "job" : "jobs") \(left.map { "#\($0)" }.joined(separator: " ")) "
                + "\(left.count == 1 ? "goes" : "go") on; "
                + "`pipectl wait \(left.map(String.init).joined(separator: " "))` waits again"
        }
        return "\(left.count) jobs, #\(left[0]) to #\(left[left.count - 1]), go on; "
            + "`pipectl wait` waits for all there are"
    }

    // MARK: - On a terminal

    private mutating func draw() throws {
        guard var screen, let latest else { return }
        var page = ProgressPage(latest)
        if !ids.isEmpty {
            let jobs = latest.jobs.filter { wanted.contains($0.job.id) }
            page = ProgressPage(groups: [ProgressPage.Group(progress: progress(of: jobs, latest), jobs: jobs)])
        }
        page.notes =
            stall.reasons.lines.map { Text($0, .halted) } + (delay.map { [Text("waits: \($0)", .halted)] } ?? [])
        try screen.draw(above: passing, page.lines(width: screen.width, height: screen.height))
        self.screen = screen
        passing = []
    }

    /// The progress of these jobs. If they are a whole batch, this is the batch's progress, which includes a rate.
    private func progress(of jobs: [Control.JobProgress], _ latest: Call.Progress.Reply) -> Control.Progress {
        let own = latest.batches.first {
            $0.batch.id == (batch ?? jobs.first?.job.batch) && $0.progress.total == ids.count
        }
        if let own { return own.progress }
        let fraction = (Double(ended.count) + jobs.reduce(0) { $0 + $1.fraction }) / Double(ids.count)
        return Control.Progress(unit: "jobs", done: ended.count, total: ids.count, fraction: fraction)
    }
}
