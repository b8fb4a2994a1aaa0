import DaemonConfiguration
package import DaemonInterface
import DaemonRuntime
import Dispatch
import FleetSharing
import InboxWatching
import JobLedger
package import JobModel
import OperationGraph
import PictureFiles
import PipelineModel
import Previewing
import SystemCalls
import WorkerPools

extension Owners {
    package func status() -> DaemonStatus {
        var status = DaemonStatus(started: started, root: configuration.places.root, isStopping: isStopping)
        let reports = inboxes.all.map { ($0, $0.report) }
        let settling = reports.reduce(0) { $0 + $1.1.settling }
        let queued = queuedCounts()
        status.waiting = heldQueues.map { WaitingCount(reason: $0.reason, jobs: queued[$0.entry] ?? 0) }
            .filter { $0.jobs > 0 }
        let behindQueues = status.waiting.reduce(0) { $0 + $1.jobs }
        for state in JobState.allCases { status.jobs[state] = jobs.counts[state] }
        status.jobs[.waiting] = settling + max(0, jobs.counts[.waiting]) + behindQueues
        status.jobs[.queued] = queued.values.reduce(0, +) - behindQueues
        status.ignoredCount = reports.reduce(0) { $0 + $1.1.ignored }
        status.queues = queueReports(queued)
        status.inboxes = reports.map { inbox, report in
            DaemonStatus.InboxStatus(
                folder: inbox.folder, recipe: inbox.recipe.name, watch: report.watch, settling: report.settling,
                ignored: report.ignored, problem: report.whyNothing)
        }
        status.ignored = reports.flatMap { $0.1.ignoredFiles }.map { IgnoredFile(path: $0.path, reason: $0.reason) }
        status.cursor = ledger.cursor
        status.problems = problems + reports.compactMap(\.1.stuckProblem)
        status.fleet = fleet.report
        return status
    }

    package func fullStatus(done: @escaping @Sendable (DaemonStatus) -> Void) {
        let status = status()
        pool.report { [self] report in
            fetch.report { [self] problem in
                var status = status
                status.workers = report.workers
                status.problems += [report.problem, problem].compactMap(\.self)
                let known = status
                Coordination.async { [self] in
                    disks.look { [self] disks in
                        var status = known
                        status.disks = disks
                        let known = status
                        // Counting rows takes time, so the reasons are added on the ledger's lane.
                        FileLanes.ledger.async { [self] in done(withReasons(known)) }
                    }
                }
            }
        }
    }

    package nonisolated func withReasons(_ status: DaemonStatus) -> DaemonStatus {
        var status = status
        status.waiting += status.inboxes.map { WaitingCount(reason: $0.problem ?? "settling", jobs: $0.settling) }
        do {
            status.waiting += try ledger.waiting().map(\.summary)
            status.kept = try keptFiles()
        } catch {
            if let reason = ledger.unreadableReason, !status.problems.contains(reason) {
                status.problems.append(reason)
            }
        }
        status.waiting = status.waiting.grouped
        return status
    }

    /// The kept files of each place. Places without kept files and without a rule are left out.
    private nonisolated func keptFiles() throws -> [DaemonStatus.KeptFiles] {
        let sums = try ledger.keptSums()
        let rules = configuration.settings.keep
        return KeptPlace.allCases.compactMap { place in
            guard sums[place] != nil || !rules[place].keepsEverything else { return nil }
            return DaemonStatus.KeptFiles(
                place: place, rule: rules[place].text, files: sums[place]?.files ?? 0, bytes: sums[place]?.bytes ?? 0)
        }
    }

    package nonisolated func failedCount(since time: Double) throws -> Int { try ledger.failedCount(since: time) }

    package func waitReasons(
        of jobs: JobGroup, done: @escaping @Sendable (Result<[WaitingCount], any Error>) -> Void
    ) {
        let held = heldQueues
        FileLanes.ledger.async { [ledger] in
            done(
                Result {
                    // A queued job counts as waiting while its queue starts no operations.
                    let queued = try held.map {
                        WaitingCount(reason: $0.reason, jobs: try ledger.queued(jobs, $0.entry))
                    }
                    return (queued + (try ledger.waiting(jobs)).map(\.summary)).grouped
                })
        }
    }

    package func ignoredFiles(of recipe: String?, done: @escaping @Sendable ([IgnoredFile]) -> Void) {
        let inboxes = inboxes.all.filter { recipe == nil || $0.recipe.name == recipe }
        // Copying very many files on the coordination queue would delay all calls.
        FileLanes.ledger.async {
            done(inboxes.flatMap { $0.report.reasons }.map { IgnoredFile(path: $0.key.path, reason: $0.value) })
        }
    }

    package func measure(done: @escaping @Sendable (Result<Measurements, any Error>) -> Void) {
        let begun = Measurements(
            status: status(), counters: jobs.meters.counters, previewsMade: previews.madeCount, hooks: hooks.reports,
            shortages: shortages.count)
        pool.report { [self] report in
            Coordination.async { [self] in
                disks.look { [self] disks in
                    // Reading rows takes time, so the remaining figures are read on the ledger's lane.
                    FileLanes.ledger.async { [self] in
                        done(
                            Result {
                                var all = begun
                                all.memory = (report.granted, report.budget)
                                (all.status.workers, all.status.disks) = (report.workers, disks)
                                all.oldestQueued = try ledger.oldestQueued()
                                all.status.kept = try keptFiles()
                                return all
                            })
                    }
                }
            }
        }
    }
}

extension InboxReport {
    /// Describes the files that can't be claimed.
    fileprivate var stuckProblem: String? {
        guard let (path, reason) = stuckFile else { return nil }
        let others = stuck.count - 1
        return "\(path): \(reason)" + (others > 0 ? " (and \(others) more, in `pipectl ignored`)" : "")
    }
}

extension [WaitingCount] {
    /// Merges equal reasons, and sorts the most frequent first.
    fileprivate var grouped: [WaitingCount] {
        let jobs = reduce(into: [String: Int]()) { $0[$1.reason, default: 0] += $1.jobs }
        return jobs.filter { $0.value > 0 }.map { WaitingCount(reason: $0.key, jobs: $0.value) }
            .sorted { ($1.jobs, $0.reason) < ($0.jobs, $1.reason) }
    }
}

extension Ledger.Waiting {
    fileprivate var summary: WaitingCount {
        let words = reason ?? (waitReason == .after ? "the end of other jobs" : "no reason is recorded")
        guard waitReason == .retry, let due else { return WaitingCount(reason: words, jobs: count) }
        let first = count > 1 ? ", the first" : ""
        return WaitingCount(reason: "retry\(first) at \(Timestamp.local(due)): \(words)", jobs: count)
    }
}
