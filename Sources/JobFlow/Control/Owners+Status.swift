import DaemonConfiguration
package import DaemonInterface
import DaemonRuntime
import FleetSharing
import InboxWatching
import JobLedger
package import JobModel
import OperationGraph
import PictureFiles
import PipelineModel
import Previewing
import ServiceProgram
import SystemCalls
import WorkerPools

extension Owners {
    package func status() -> DaemonStatus {
        var status = DaemonStatus(started: started, root: configuration.places.root, isStopping: isStopping)
        let reports = inboxes.all.map { ($0, $0.report) }
        let settling = reports.reduce(0) { $0 + $1.1.settling }
        let queued = queuedCounts()
        status.waiting = stoppedQueues.map { ($0.reason, queued[$0.entry] ?? 0) }
            .filter { $0.jobs > 0 }
        let behindQueues = status.waiting.reduce(0) { $0 + $1.jobs }
        for state in JobState.allCases { status.jobs[state] = jobs.counts[state] }
        status.jobs[.waiting] = settling + max(0, jobs.counts[.waiting]) + behindQueues
        status.jobs[.queued] = queued.values.reduce(0, +) - behindQueues
        status.ignoredCount = reports.reduce(0) { $0 + $1.1.ignored }
        status.queues = queueReports(queued)
        status.inboxes = reports.map { inbox, report in
            (
                inbox.folder, inbox.recipe.name, report.watch, report.settling, report.ignored, report.whyNothing
            )
        }
        status.ignored = reports.flatMap { $0.1.ignoredFiles }
        status.cursor = ledger.cursor
        status.problems = problems + reports.compactMap(\.1.stuckProblem)
        status.fleet = fleet.report
        return status
    }

    package func queueReports() -> [QueueReport] { queueReports(queuedCounts()) }

    func queueReports(_ queued: [FirstQueue: Int]) -> [QueueReport] {
        queues.lookAtProcessors()
        return queues.all.map { queue in
            let waiting =
                switch queue.name {
                case queues.download.name: queued[.download] ?? 0
                case queues.render.name:
                    (queued[.render] ?? 0)
                        + jobs.all.count { $0.download?.state == .finished && !$0.render.hasBegun }
                case queues.publish.name:
                    jobs.all.count { $0.render.image != nil && $0.publish?.hasBegun == false }
                default: jobs.all.count { $0.publish?.state == .finished && $0.announce?.hasBegun == false }
                }
            return (queue.nodeReport, waiting, queue.automaticCount, waiting > 0 ? heldDownloads(in: queue) : nil)
        }
    }

    /// Returns a sentence about the hosts whose downloads PerHost= holds back: the name of the first host, and the
    /// number of other hosts. Returns nil if PerHost= holds back no downloads.
    private func heldDownloads(in queue: GatedQueue) -> String? {
        guard case let hosts = queue.heldGroups, let first = hosts.first else { return nil }
        let others = hosts.count > 1 ? " and \((hosts.count - 1).counted("other host"))" : ""
        return "PerHost=\(configuration.settings.downloads.perHost) holds back downloads from \(first)\(others)"
    }

    /// Returns the number of queued jobs, by the queue in which they start. If the ledger can't be read, the result
    /// counts every queued job under `render`; the status then reports the error as a problem.
    func queuedCounts() -> [FirstQueue: Int] {
        let all = max(0, jobs.counts[.queued])
        let downloads = all == 0 ? 0 : (try? ledger.queuedDownloads(among: all)) ?? 0
        return [.download: downloads, .render: all - downloads]
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
                    keeping.disks.look { [self] disks in
                        var status = known
                        status.disks = disks
                        let known = status
                        let ignored = inboxes.all.map(\.report.reasons)
                        // Counts the reasons on the ledger's lane, because a long count on the coordination queue would
                        // delay all calls.
                        FileLanes.ledger.async { [self] in
                            var status = withReasons(known)
                            status.ignoredReasons = Self.reasons(ignored)
                            done(status)
                        }
                    }
                }
            }
        }
    }

    package nonisolated func withReasons(_ status: DaemonStatus) -> DaemonStatus {
        var status = status
        status.waiting += status.inboxes.map { ($0.problem ?? "settling", $0.settling) }
        do {
            status.waiting += try ledger.waiting().map(\.summary)
            status.kept = try keptFiles()
        } catch {
            if let reason = ledger.unreadableReason, !status.problems.contains(reason) {
                status.problems.append(reason)
            }
        }
        status.waiting = Self.grouped(status.waiting)
        return status
    }

    /// Returns the number and size of the kept files in each place. Leaves out places that have neither kept files nor
    /// a rule.
    private nonisolated func keptFiles() throws -> [DaemonStatus.Kept] {
        let sums = try ledger.keptSums()
        let rules = configuration.settings.keep
        return KeptPlace.allCases.compactMap { place in
            guard sums[place] != nil || !rules[place].keepsEverything else { return nil }
            return (place, rules[place].text, sums[place]?.files ?? 0, sums[place]?.bytes ?? 0)
        }
    }

    /// Merges equal reasons, and sorts the most frequent first.
    private nonisolated static func grouped(_ waiting: [WaitingCount]) -> [WaitingCount] {
        waiting.reduce(into: [String: Int]()) { $0[$1.reason, default: 0] += $1.jobs }.filter { $0.value > 0 }
            .map { (reason: $0.key, jobs: $0.value) }.sorted { ($1.jobs, $0.reason) < ($0.jobs, $1.reason) }
    }

    private nonisolated static let mostReasons = 20

    /// Groups ignored files by reason. Sorts the most frequent reason first.
    private nonisolated static func reasons(_ inboxes: [[FileSystem.Key: String]]) -> [IgnoredReason] {
        var groups: [String: IgnoredReason] = [:]
        for (key, reason) in inboxes.joined() {
            var group = groups[reason] ?? (reason, 0, key.path)
            group.files += 1
            group.example = min(group.example, key.path)
            groups[reason] = group
        }
        let sorted = groups.values.sorted { ($1.files, $0.reason) < ($0.files, $1.reason) }
        guard sorted.count > mostReasons else { return sorted }
        let rest = sorted[(mostReasons - 1)...]
        return sorted.prefix(mostReasons - 1)
            + [("other reasons", rest.reduce(0) { $0 + $1.files }, rest.first?.example ?? "")]
    }

    package nonisolated func failedCount(since time: Double) throws -> Int { try ledger.failedCount(since: time) }

    package func waitReasons(of jobs: JobGroup, done: @escaping @Sendable (Result<[WaitingCount], any Error>) -> Void) {
        let stopped = stoppedQueues
        FileLanes.ledger.async { [ledger] in
            done(
                Result {
                    // A queued job counts as waiting while its queue starts no operations.
                    let queued = try stopped.map { ($0.reason, try ledger.queued(jobs, $0.entry)) }
                    return Self.grouped(queued + (try ledger.waiting(jobs)).map(\.summary))
                })
        }
    }

    package func ignoredFiles(of recipe: String?, done: @escaping @Sendable ([IgnoredFile]) -> Void) {
        let inboxes = inboxes.all.filter { recipe == nil || $0.recipe.name == recipe }
        // Copying a very long list of files on the coordination queue would delay all calls.
        FileLanes.ledger.async {
            done(inboxes.flatMap { $0.report.reasons }.map { ($0.key.path, $0.value) })
        }
    }

    package func measure(done: @escaping @Sendable (Result<Measurements, any Error>) -> Void) {
        let begun = Measurements(
            status: status(), counters: jobs.meters.counters, previewsMade: previews.madeCount, hooks: hooks.reports,
            shortages: shortages.count)
        pool.report { [self] report in
            Coordination.async { [self] in
                keeping.disks.look { [self] disks in
                    // Reads the remaining figures on the ledger's lane, because a long read on the coordination queue
                    // would delay all calls.
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
    /// Names a file that can't be claimed, with the number of other such files; nil if all files can be claimed.
    fileprivate var stuckProblem: String? {
        guard let (path, reason) = stuckFile else { return nil }
        let others = stuck.count - 1
        return "\(path): \(reason)" + (others > 0 ? " (and \(others) more)" : "")
    }
}

extension Ledger.Waiting {
    fileprivate var summary: WaitingCount {
        let words = reason ?? (waitReason == .after ? "the end of other jobs" : "no reason is recorded")
        guard waitReason == .retry, let due else { return (words, count) }
        let first = count > 1 ? ", the first" : ""
        return ("retry\(first) at \(Timestamp.local(due)): \(words)", count)
    }
}
