import PipelineControl

/// Prints jobs as they end; on a terminal above a bar for them.
struct Waiting {
    private let context: Context
    /// None means all there are.
    private let ids: [Int]
    private let wanted: Set<Int>
    private var screen: LiveScreen
    private var ended = 0
    private var code = ExitCode.done
    private var passing: [Text] = []
    private var latest: Call.Progress.Reply?
    private let progress: ControlClient
    private let interrupts: Interrupts

    init(context: Context, ids: [Int]) throws {
        self.context = context
        self.ids = ids
        wanted = Set(ids)
        screen = LiveScreen(output: context.output)
        interrupts = try Interrupts()
        progress = try context.connect()
        try progress.start(Call.Progress())
    }

    mutating func run() throws -> ExitCode {
        do {
            for start in stride(from: 0, to: max(1, ids.count), by: ControlInterface.mostIDs) {
                let some = Array(ids[start..<min(ids.count, start + ControlInterface.mostIDs)])
                guard try wait(for: some) else {
                    code = .interrupted
                    break
                }
            }
        } catch {
            try? screen.finish(passing)
            throw error
        }
        try screen.finish(passing)
        return code
    }

    /// False when it was interrupted.
    private mutating func wait(for some: [Int]) throws -> Bool {
        let endings = try context.connect()
        try endings.start(Call.Wait(ids: some))
        while true {
            switch interrupts.wait(for: [endings.socket, progress.socket], milliseconds: nil) {
            case .readable(let which):
                if which.contains(0) {
                    let (replies, isOver) = try endings.receive(Call.Wait.self)
                    take(replies.flatMap(\.jobs))
                    if isOver { return true }
                }
                if which.contains(1) { latest = try progress.receive(Call.Progress.self).replies.last ?? latest }
            case .timeout, .resized: break
            case .interrupted: return false
            }
            try draw()
        }
    }

    private mutating func take(_ jobs: [Control.Job]) {
        ended += jobs.count
        passing += jobs.map(\.line)
        if !jobs.allSatisfy(\.succeeded) { code = .failed }
    }

    private mutating func draw() throws {
        guard let latest else { return }
        var page = ProgressPage(latest)
        if !ids.isEmpty {
            let jobs = latest.jobs.filter { wanted.contains($0.job.id) }
            page = ProgressPage(groups: [ProgressPage.Group(progress: progress(of: jobs, latest), jobs: jobs)])
        }
        try screen.draw(above: passing, page.lines(width: screen.width, height: screen.height))
        passing = []
    }

    /// A batch as a whole knows how fast it goes.
    private func progress(of jobs: [Control.JobProgress], _ latest: Call.Progress.Reply) -> Control.Progress {
        let own = latest.batches.first { $0.batch.id == jobs.first?.job.batch && $0.progress.total == ids.count }
        if let own { return own.progress }
        let fraction = (Double(ended) + jobs.reduce(0) { $0 + $1.fraction }) / Double(ids.count)
        return Control.Progress(unit: "jobs", done: ended, total: ids.count, fraction: fraction)
    }
}
