import DaemonConfiguration
package import DaemonInterface
import DaemonRuntime
import Dispatch
package import JobLedger
package import JobModel
package import PictureFiles
import PipelineModel
package import ServiceProgram
import Synchronization

/// Runs the recipes' hooks. A hook is a program that runs on the occasions that the recipe chooses, for example when a
/// job is over or a batch has ended. The runs of one hook never overlap, and each event causes at most one run. Each
/// hook has its own cursor in the event log, so a slow hook delays no other hook and no job.
package actor Hooks: QueueActor {
    /// A hook's program, and the occasions on which the program runs.
    package struct Order: Sendable {
        var program: String
        var occasions: Set<HookOccasion>
    }

    private struct Hook {
        var order: Order
        var record: Ledger.HookRecord
        /// Cursors of the events for which the daemon still has to run the hook.
        var due: [Int] = []
        var isBusy = false
        /// The run in progress; nil while the daemon still checks the program.
        var run: HookRun?
        var isLookedAt = false
    }

    private static let notRun = "is not run: "

    /// Maximum number of events that one read of the event log returns.
    private static let page = 500

    package nonisolated let executor = QueueExecutor("pipelined.hooks")
    private let ledger: Ledger
    private let places: Places
    private let byRecipe = Mutex<[String: HookReport]>([:])
    private let isNeeded = Mutex(false)
    private var hooks: [String: Hook] = [:]
    private var timeout = Duration.seconds(30)
    private var seen = 0
    /// The hooks to adopt once the ledger can be read.
    private var awaited: (orders: [String: Order], held: Set<String>, from: Int)?
    private var looksAgain = false
    private var finished: (@Sendable () -> Void)?
    private var timeIsUp = false

    /// An event, with the current record of its job or batch.
    package struct News: Sendable {
        package var event: LoggedEvent
        package var job: JobRecord?
        package var batch: BatchRecord?
        /// The paths of the results of a batch that has ended.
        package var results: [String]?
    }

    /// Encodes news as the line that the hook reads from its standard input.
    package typealias Encoding = @Sendable (News) throws -> [UInt8]

    private let encode: Encoding

    package init(ledger: Ledger, places: Places, encode: @escaping Encoding) {
        (self.ledger, self.places, self.encode) = (ledger, places, encode)
    }

    package nonisolated func report(of recipe: String) -> HookReport {
        byRecipe.withLock { $0[recipe] ?? HookReport() }
    }

    package nonisolated var reports: [String: HookReport] { byRecipe.withLock { $0 } }

    /// The problems of the latest runs.
    package nonisolated var problems: [String] {
        byRecipe.withLock { $0 }.sorted { $0.key < $1.key }.compactMap { recipe, report in
            let failures = report.failures > 0 ? " (\(report.failures) failed in all)" : ""
            return report.problem.map { "the hook of '\(recipe)' \(Self.short($0))\(failures)" }
        }
    }

    /// Maximum characters of a hook's problem in the status.
    private static let longestProblem = 160

    private static func short(_ problem: String) -> String {
        problem.count > longestProblem ? "\(problem.prefix(longestProblem))… (the log has more)" : problem
    }

    /// Sets the hooks of the recipes in force. A new hook runs only for events that follow this call. The hook of a
    /// held recipe does not run, but keeps its cursor.
    package nonisolated func set(_ orders: [String: Order], timeout: Duration, keeping held: Set<String> = []) {
        let now = ledger.cursor
        async { hooks in
            hooks.timeout = timeout
            hooks.awaited = (orders, held, now)
            hooks.isNeeded.withLock { $0 = !orders.isEmpty }
            hooks.look()
        }
    }

    /// Adopts the hooks in `awaited`. Throws if the ledger can't be read: without the recorded cursors, a hook might
    /// run twice for an event, or not at all.
    private func setAwaited() throws {
        guard let (orders, held, now) = awaited else { return }
        let known = try ledger.hooks()
        awaited = nil
        for recipe in known.keys where orders[recipe] == nil && !held.contains(recipe) { ledger.forget(hook: recipe) }
        for recipe in hooks.keys where orders[recipe] == nil { hooks[recipe] = nil }
        for (recipe, order) in orders {
            if hooks[recipe] == nil {
                let record = known[recipe] ?? Ledger.HookRecord(cursor: now)
                if known[recipe] == nil { ledger.record(hook: recipe, record) }
                hooks[recipe] = Hook(order: order, record: record)
                seen = min(seen, record.cursor)
            }
            hooks[recipe]?.order = order
        }
        lookAtPrograms()
        if hooks.values.allSatisfy({ $0.due.isEmpty }) { seen = hooks.values.map(\.record.cursor).min() ?? now }
        byRecipe.withLock { reports in
            reports = hooks.mapValues { HookReport(failures: $0.record.failures) }.merging(reports) { $1 }
                .filter { hooks[$0.key] != nil }
        }
    }

    /// Checks the programs, so that a program that can't run is reported before its first event.
    private func lookAtPrograms() {
        for (recipe, hook) in hooks {
            let program = hook.order.program
            FileLanes.work(on: program).async { [self] in
                let refusal = HookProgram.refusal(of: program)
                async { $0.looked(recipe, program, refusal) }
            }
        }
    }

    private func looked(_ recipe: String, _ program: String, _ refusal: String?) {
        guard let hook = hooks[recipe], hook.order.program == program, !hook.isBusy else { return }
        if let refusal {
            report(recipe, program, Self.notRun + refusal)
        } else if report(of: recipe).problem?.hasPrefix(Self.notRun) == true {
            report(recipe, program, nil)
        }
    }

    /// Checks the log for new events.
    package nonisolated func eventsAppended() {
        if isNeeded.withLock({ $0 }) { async { $0.look() } }
    }

    /// Starts no more runs. Terminates the current runs after `time`. Calls `done` when all runs have ended.
    package nonisolated func stop(within time: Duration, _ done: @escaping @Sendable () -> Void) {
        async { hooks in
            hooks.finished = done
            hooks.after(time.dispatch) { $0.giveUp() }
            hooks.finishIfIdle()
        }
    }

    private func giveUp() {
        timeIsUp = true
        for hook in hooks.values { hook.run?.assumeIsolated { $0.giveUp() } }
        finishIfIdle()
    }

    private func finishIfIdle() {
        // A program whose disk does not answer has not started yet, so there is nothing to terminate.
        guard hooks.values.allSatisfy({ !$0.isBusy || timeIsUp && $0.run == nil }), let finished else { return }
        self.finished = nil
        finished()
    }

    private func look() {
        var passed: [String: Int] = [:]
        do {
            try setAwaited()
            while case let (found, last) = try ledger.announcements(after: seen, limit: Self.page), last > seen {
                for (cursor, recipe, occasion) in found where cursor > hooks[recipe]?.record.cursor ?? .max {
                    if hooks[recipe]?.order.occasions.contains(occasion) == true {
                        hooks[recipe]?.due.append(cursor)
                    } else {
                        passed[recipe] = cursor
                    }
                }
                seen = last
            }
            for (recipe, cursor) in passed { pass(recipe, cursor) }
        } catch {
            // The ledger has logged the error, so this only retries.
            lookLater()
        }
        for recipe in hooks.keys { next(recipe) }
    }

    /// Moves the hook's cursor past events for which the hook does not run. If its recipe adds occasions later, the
    /// hook does not run for these earlier events.
    private func pass(_ recipe: String, _ cursor: Int) {
        guard let hook = hooks[recipe], hook.due.isEmpty, !hook.isBusy else { return }
        hooks[recipe]?.record.cursor = cursor
        ledger.record(hook: recipe, Ledger.HookRecord(cursor: cursor, failures: hook.record.failures))
    }

    private func lookLater() {
        guard !looksAgain, finished == nil else { return }
        looksAgain = true
        after(.seconds(1)) {
            $0.looksAgain = false
            $0.look()
        }
    }

    private func next(_ recipe: String) {
        guard finished == nil, var hook = hooks[recipe], !hook.isBusy, !hook.due.isEmpty else { return }
        let cursor = hook.due.removeFirst()
        hook.record.cursor = cursor
        hook.isBusy = true
        hooks[recipe] = hook
        // Records the cursor before the run, so that a crash never makes the program run twice for an event.
        ledger.record(hook: recipe, hook.record) { [self] in async { $0.run(recipe, cursor) } }
    }

    private func run(_ recipe: String, _ cursor: Int) {
        guard let hook = hooks[recipe] else { return finishIfIdle() }
        let found: News?
        do { found = try news(at: cursor) } catch {
            guard finished == nil else { return ended(recipe, "was not run: the event can't be read: \(error)") }
            return after(.seconds(1)) { $0.run(recipe, cursor) }
        }
        guard let news = found else {
            return ended(recipe, "was not run for an event that is forgotten; HistoryEvents= in [Control] keeps more")
        }
        let program = hook.order.program
        hooks[recipe]?.isLookedAt = true
        after(timeout.dispatch) { hooks in
            guard hooks.hooks[recipe]?.isLookedAt == true else { return }
            hooks.report(recipe, program, "waits for its disk, which does not answer")
        }
        // The disk of the program may not answer, so the check runs in that disk's lane.
        FileLanes.work(on: program).async { [self] in
            let refusal = HookProgram.refusal(of: program)
            async { $0.begin(recipe, program, refusal, news) }
        }
    }

    /// Returns the event at `cursor`; nil if the ledger has forgotten it.
    private func news(at cursor: Int) throws -> News? {
        // If the ledger has forgotten the event, the read returns a later event. That event gets a run of its own.
        guard let (event, job, batch) = try ledger.events(after: cursor - 1, limit: 1).first, event.cursor == cursor
        else { return nil }
        let results = event.occasion == .batch ? try batch.map { try ledger.results(ofBatch: $0.id) } : nil
        return News(event: event, job: job, batch: batch, results: results)
    }

    private func begin(_ recipe: String, _ program: String, _ refusal: String?, _ news: News) {
        hooks[recipe]?.isLookedAt = false
        if let refusal { return ended(recipe, Self.notRun + refusal) }
        guard finished == nil, hooks[recipe] != nil else { return ended(recipe, nil) }
        do {
            hooks[recipe]?.run = try HookRun(
                program, event: try encode(news),
                environment: [
                    "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "PIPELINED_SOCKET=\(places.socket)",
                    "PIPELINED_RECIPE=\(recipe)", "PIPELINED_OCCASION=\(news.event.occasion.rawValue)",
                ] + news.subject, timeout: timeout, on: executor
            ) { [self] problem in assumeIsolated { $0.ended(recipe, problem) } }
        } catch {
            ended(recipe, "can't be run: \(error)")
        }
    }

    private func ended(_ recipe: String, _ problem: String?) {
        guard var hook = hooks[recipe] else { return finishIfIdle() }
        let runs = hook.run == nil ? 0 : 1
        hook.run = nil
        hook.isBusy = false
        if problem != nil {
            hook.record.failures += 1
            ledger.record(hook: recipe, hook.record)
        }
        hooks[recipe] = hook
        report(recipe, hook.order.program, problem, runs: runs)
        finishIfIdle()
        next(recipe)
    }

    private func report(_ recipe: String, _ program: String, _ problem: String?, runs: Int = 0) {
        byRecipe.withLock { [failures = hooks[recipe]?.record.failures ?? 0] in
            $0[recipe] = HookReport(failures: failures, runs: runs + ($0[recipe]?.runs ?? 0), problem: problem)
        }
        if let problem {
            Log.failure("the hook of '\(recipe)', \(program), \(problem)", of: LogSubject(recipe: recipe))
        }
    }
}

extension Hooks.News {
    /// The environment variables that name the job or the batch.
    fileprivate var subject: [String] {
        guard let batch else { return ["PIPELINED_JOB=\(job?.id ?? 0)"] }
        return ["PIPELINED_BATCH=\(batch.id)", "PIPELINED_PICTURES=\(batch.jobs.values.reduce(0, +))"]
    }
}
