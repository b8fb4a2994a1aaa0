import DaemonConfiguration
import DaemonRuntime
import InboxWatching
import JobLedger
package import JobModel
import OperationGraph
import PictureFiles
package import PipelineModel

extension Owners {
    package func currentJob(_ id: Int) throws -> JobRecord? { try jobs[id]?.recordNow ?? ledger.job(id) }

    package func currentJobs(_ ids: [Int]) throws -> [JobRecord] {
        let found = try ledger.jobs(ids).map { ($0.id, $0) }
        let recorded = Dictionary(found, uniquingKeysWith: { first, _ in first })
        return ids.compactMap { jobs[$0]?.record ?? recorded[$0] }
    }

    package func isOver(_ job: JobRecord) -> Bool { job.isOver && jobs[job.id] == nil }

    package nonisolated func standing(of job: JobRecord) -> (state: JobState, reason: String?) {
        let waits = job.state == .queued ? queues.waitReason(job.entry) : nil
        let stays = job.disposed ? nil : originals.reason(for: job.id)
        return (waits == nil ? job.state : .waiting, waits ?? stays ?? heldReason(job) ?? job.reason)
    }

    /// Returns the reason why PerHost= holds the job's download back; nil if it does not.
    private nonisolated func heldReason(_ job: JobRecord) -> String? {
        guard job.state == .queued, job.needsDownload, let host = job.host,
            queues.download.holds(lane: GateLane.Name(host))
        else { return nil }
        let most = configuration.settings.downloads.perHost
        let downloads = "\(most.counted("download")) from \(host) \(most == 1 ? "is" : "are")"
        return "PerHost=\(most) holds it back: \(downloads) running"
    }

    /// The queues whose queued jobs are shown as waiting, each with the reason.
    nonisolated var stoppedQueues: [(entry: FirstQueue, reason: String)] {
        FirstQueue.allCases.compactMap { entry in queues.waitReason(entry).map { (entry, $0) } }
    }

    package nonisolated func list(_ filter: JobFilter, after id: Int, limit: Int) throws -> [JobRecord] {
        try ledger.list(withStoppedQueues(filter), after: id, limit: limit)
    }

    package nonisolated func start(ofNewest count: Int, _ filter: JobFilter) throws -> Int {
        try ledger.start(ofNewest: count, withStoppedQueues(filter))
    }

    package nonisolated func ids(_ filter: JobFilter) throws -> [ClosedRange<Int>] {
        try ledger.ids(withStoppedQueues(filter))
    }

    /// Adds the stopped queues to the filter, because their queued jobs are shown as waiting.
    private nonisolated func withStoppedQueues(_ filter: JobFilter) -> JobFilter {
        var filter = filter
        filter.stoppedQueues = stoppedQueues.map(\.entry)
        return filter
    }

    package func cancel(
        _ choice: JobChoice, done: @escaping @Coordination @Sendable (_ cancelled: Int, _ left: String?) -> Void
    ) {
        guard choice.ids == nil else { return changes.cancel(choice) { done($0, nil) } }
        var choice = choice
        if choice.states?.contains(.waiting) == true { choice.stoppedQueues = stoppedQueues.map(\.entry) }
        let (files, inboxes) = settling(choice)
        changes.cancel(choice, settling: files, in: inboxes, done: done)
    }

    /// Returns which settling files to cancel, and the inboxes that contain them. A settling file counts as a waiting
    /// job of its inbox's recipe, and of its folder's batch.
    private func settling(_ choice: JobChoice) -> (files: SettlingChoice, inboxes: [Inbox]) {
        guard choice.states?.contains(.waiting) ?? true else { return (.all, []) }
        func isChosen(_ inbox: Inbox) -> Bool { choice.recipe == nil || inbox.recipe.name == choice.recipe }
        guard let batch = choice.batch else { return (.all, inboxes.all.filter(isChosen)) }
        guard let place = intake.place(of: batch), isChosen(place.inbox) else { return (.all, []) }
        return (.folder(place.folder), [place.inbox])
    }

    package func forget(
        _ choice: JobChoice, endedBefore time: Double,
        done: @escaping @Sendable (_ forgotten: Int, _ left: Int) -> Void
    ) throws {
        let left = try ledger.unforgettable(choice, endedBefore: time)
        keeping.forget(choice, endedBefore: time) { done($0, left) }
    }
}
