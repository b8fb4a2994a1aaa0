package import PipelineModel
package import SystemCalls

/// A job as the ledger stores it.
package struct JobRecord: Sendable {
    /// How the original reached its place; this decides its disposal.
    package enum Origin: String, Sendable {
        /// Renamed from the inbox into its `.pipelined` folder.
        case claimed
        /// Left in its place, for `Original=keep`.
        case kept
        /// A copy of a file that `pipectl add` passed, or a download.
        case spooled
    }

    /// Why a row is `waiting`; nil for a job in the window, because its wait does not outlive the daemon.
    package enum WaitReason: String, Sendable {
        /// For a resource in a `Shortage`, such as space in its outbox or the disk of its inbox.
        case place
        /// For the other jobs of its batch.
        case barrier
        /// For its dependencies.
        case after
        /// For its next retry, at `due`.
        case retry
    }

    /// An intermediate picture, rendered before a barrier.
    package struct Staged: Codable, Sendable, Hashable {
        package var index: Int
        package var path: String
        package var result: RenderedOutput

        package init(index: Int, path: String, result: RenderedOutput) {
            (self.index, self.path, self.result) = (index, path, result)
        }
    }

    /// Who removed a file, and when.
    package struct Removal: Codable, Sendable, Hashable {
        /// `Keep Archive=90d`, or `pipectl clean`.
        package var by: String
        package var time: Double

        package init(by: String, time: Double) { (self.by, self.time) = (by, time) }
    }

    package var id: Int
    /// Position in the queue.
    package var position: Int
    package var batch: Int?
    package var order: WorkOrder
    /// Relative to the inbox, or the name passed to `add`.
    package var path: String
    package var origin: Origin
    /// Where the original lies now.
    package var source: String
    package var file: FileStatus.Identity
    package var state: JobState
    package var reason: String?
    /// Why the job failed, or why its latest attempt did.
    package var error: String?
    package var advice: String?
    package var intent: PublishIntent?
    /// Its results in the outbox.
    package var outputs: [PublishedFile] = []
    package var story: JobStory?
    /// Number of attempts started.
    package var tries = 0
    package var disposed = false
    package var created: Double
    package var started: Double?
    package var finished: Double?
    /// The URL to download first; until then `source` is the path for the download.
    package var url: String?
    /// The server of the URL (`WebAddress.server`).
    package var host: String?
    /// The usable part of the file at `source`, after an interrupted download.
    package var partial: FetchResume?
    /// A higher priority runs first; among equals, the lower position does.
    package var priority = 0
    package var waitReason: WaitReason?
    /// Time of the next retry.
    package var due: Double?
    /// Number of transient failures so far.
    package var setbacks = 0
    /// Number of daemon crashes while the job was running.
    package var crashes = 0
    /// The class of `error`.
    package var failure: FailureClass?
    /// Number of barriers passed.
    package var segment = 0
    /// Intermediate pictures on disk, rendered up to the latest barrier.
    package var staged: [Staged] = []
    /// Runs even if a dependency fails or is cancelled.
    package var anyway = false
    /// Where the original is being brought back to, until the job is queued again.
    package var returns: String?
    /// Set when the original was removed on request, by a rule of [Keep] or by `pipectl clean`.
    package var removed: Removal?
    /// During a redo, the work order of the results that are in the outbox.
    package var former: WorkOrder?
    /// The target folder of the original, if not `cancelled/`.
    package var goal: String?
}

extension JobRecord {
    package init(
        id: Int, position: Int, batch: Int?, order: WorkOrder, path: String, origin: Origin, source: String,
        file: FileStatus.Identity, state: JobState, created: Double, finished: Double? = nil, priority: Int
    ) {
        (self.id, self.position, self.batch, self.order, self.path) = (id, position, batch, order, path)
        (self.origin, self.source, self.file, self.state) = (origin, source, file, state)
        (self.created, self.finished, self.priority) = (created, finished, priority)
    }

    /// Nothing is left to do: the job has ended, and its original has reached its final place.
    package var isOver: Bool { state.isFinal && disposed && returns == nil }

    /// The original has still to be downloaded. `FirstQueue.condition` is the same test in SQL.
    package var needsDownload: Bool { url != nil && file == .none }

    package var plan: Plan { Planner.plan(outputs: order.outputs, inBatch: batch != nil) }
}
