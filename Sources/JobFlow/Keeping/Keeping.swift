import DaemonConfiguration
package import DaemonInterface
package import DaemonRuntime
import Dispatch
import JobLedger
package import PipelineModel
import ServiceProgram

/// Removes the originals and results of ended jobs by the rules of [Keep], and the rows of ended jobs by History= and
/// HistoryJobs=. Checks the files when new files arrive, and when the oldest file reaches its age limit.
@Coordination
package final class Keeping {
    let ledger: Ledger
    let configuration: ConfigurationInForce
    let jobs: JobQueue
    let ages: AgeClock
    package let disks: DiskFigures
    /// Runs the file operations of the checks, one check at a time.
    nonisolated private let files = FileLane(threads: 1)
    private var isLooking = false
    /// Whether files have arrived or rules have changed since the current check began.
    private var isToLookAgain = false
    private(set) var problems: [String] = [] {
        didSet { if problems != oldValue { events?.statusChanged() } }
    }
    weak var events: (any DaemonEvents)? { didSet { ages.events = events } }
    private lazy var looks = Appointment { [unowned self] _ in look() }
    /// Number of jobs that have ended since old jobs were last forgotten.
    var endedSinceForgetting = 0
    /// Forgets jobs that reach the age limit while no other job ends.
    private(set) lazy var sweeps = Appointment { [unowned self] _ in forgetOld() }

    /// Files that arrive within this many seconds are checked together.
    nonisolated private static let gathering = 1.0
    /// Seconds until the daemon tries again to remove files that it could not remove.
    nonisolated private static let pause = 3600.0
    /// Seconds until the daemon reads a doubted clock again.
    private static let doubtPause = 60.0

    init(_ ledger: Ledger, _ configuration: ConfigurationInForce, _ jobs: JobQueue) {
        (self.ledger, self.configuration, self.jobs) = (ledger, configuration, jobs)
        ages = AgeClock(ledger, configuration)
        disks = DiskFigures(configuration)
    }

    private var rules: KeepSettings { configuration.settings.keep }

    /// Finishes removals that a crash has interrupted, then checks the age of jobs and files.
    func begin() throws {
        try ages.begin()
        forgetOld()
        let tidying = tidying
        files.async {
            // If the ledger can't be read, the ledger has already reported the reason, and the next start finishes the
            // removals.
            try? tidying.goOn()
        }
        look()
    }

    /// Applies a reloaded configuration.
    func adopt() {
        forgetOld()
        look()
    }

    /// Schedules a check, because files have arrived.
    func came() {
        guard !rules.keepsEverything else { return }
        looks.make(at: Timestamp.now() + Self.gathering)
    }

    /// Retries failed removals now instead of after an hour, because the ledger is writable again.
    func ledgerRecovered() {
        if !problems.isEmpty { look() }
    }

    /// Removes files that exceed a rule.
    func look() {
        guard !rules.keepsEverything else {
            problems = []
            return
        }
        guard !isLooking else {
            isToLookAgain = true
            return
        }
        isLooking = true
        let (tidying, rules, now) = (tidying, rules, ages.now)
        if now == nil { looks.make(at: Timestamp.now() + Self.doubtPause) }
        files.async { [self] in
            let seen = Result { try Self.keep(rules, tidying, now) }
            Coordination.async { [self] in looked(seen) }
        }
    }

    private struct Seen {
        var problems: [String] = []
        /// When the next check is due, because a file reaches its age limit or a failed removal is retried.
        var next = Double.infinity
    }

    /// Removes the files that exceed a rule. If `time` is nil, removes no file by age.
    nonisolated private static func keep(_ rules: KeepSettings, _ tidying: Tidying, _ time: Double?) throws -> Seen {
        var seen = Seen()
        for place in KeptPlace.allCases {
            let rule = rules[place]
            let age = time == nil ? nil : rule.age.map { $0 / .seconds(1) }
            guard age != nil || rule.size != nil else { continue }
            let now = time ?? Timestamp.now()
            if age != nil, let oldest = try tidying.ledger.oldestKept(in: place), oldest < AgeClock.earliest {
                tidying.ledger.redate(in: place, before: AgeClock.earliest, to: now)
            }
            let wish = CleanWish(
                place: place, before: age.map { now - $0 }, most: rule.size.map(Int.init), by: rules.said(of: place))
            let outcome = try tidying.run(wish)
            logRemoval(outcome, wish)
            if let refusal = outcome.refusal {
                seen.problems.append("\(wish.by): \(outcome.refused) files can't be removed: \(refusal)")
                seen.next = min(seen.next, now + pause)
            } else if let age, let oldest = try tidying.ledger.oldestKept(in: place) {
                // If a file beyond its age limit was not removed, it is being brought back, or its disk is not mounted.
                seen.next = min(seen.next, oldest + age > now ? oldest + age : now + pause)
            }
        }
        return seen
    }

    private func looked(_ seen: Result<Seen, any Error>) {
        isLooking = false
        switch seen {
        case .success(let seen):
            for problem in seen.problems where !problems.contains(problem) {
                Log.failure("\(problem); retried every hour")
            }
            problems = seen.problems
            if seen.next < .infinity { looks.make(at: seen.next) }
        case .failure:
            // The ledger has reported why it can't be read.
            looks.make(at: Timestamp.now() + Self.pause)
        }
        if isToLookAgain {
            isToLookAgain = false
            looks.make(at: Timestamp.now() + Self.gathering)
        }
    }

    /// Removes the files that a user's wishes select. If a wish is a trial, only counts its files.
    package func clean(
        _ wishes: [CleanWish], done: @escaping @Sendable (Result<[CleanOutcome], any Error>) -> Void
    ) {
        if wishes.contains(where: { $0.before != nil && !$0.isTrial }) { ages.confirm() }
        let tidying = tidying
        files.async {
            done(
                Result {
                    try wishes.map { wish in
                        let outcome = try tidying.run(wish)
                        if !wish.isTrial { Self.logRemoval(outcome, wish) }
                        return outcome
                    }
                })
        }
    }

    private var tidying: Tidying {
        let isDetailed = configuration.settings.log == .operations
        return Tidying(
            ledger: ledger, places: configuration.places, patience: configuration.settings.hangTimeout
        ) { path in
            if isDetailed { Log.notice("removed \(path)") }
        }
    }

    /// Logs the number and size of the removed files.
    nonisolated private static func logRemoval(_ outcome: CleanOutcome, _ wish: CleanWish) {
        guard let oldest = outcome.oldest, let newest = outcome.newest else { return }
        Log.notice(
            "\(wish.by): removed \(outcome.files) of \(wish.place.rawValue), \(outcome.bytes) bytes, which had come "
                + (outcome.files == 1
                    ? "on \(Timestamp.dated(oldest))"
                    : "from \(Timestamp.dated(oldest)) to \(Timestamp.dated(newest))"))
    }
}

extension KeepSettings {
    /// Returns the rule for a place, as written in a configuration file.
    package func said(of place: KeptPlace) -> String {
        let name = place.rawValue
        return "Keep \(name.prefix(1).uppercased() + name.dropFirst())=\(self[place].text)"
    }
}
