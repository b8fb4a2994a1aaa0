package import PipelineModel
package import SystemCalls

/// A job as the ledger keeps it.
package struct JobRecord: Sendable {
    /// The way the original came to its place, which decides what becomes of it.
    package enum Origin: String, Sendable {
        /// Renamed from the inbox into its `.pipelined` folder.
        case claimed
        /// Left in its place, for `Original=keep`.
        case kept
        /// A copy of a file that `pipectl add` passed, or a download.
        case spooled
    }

    /// Why a row is `waiting`. A job in the window waits for nothing that outlives the daemon, and has none.
    package enum WaitReason: String, Sendable {
        /// It waits for a resource in a `Shortage`, such as room in its outbox, or the disk of its inbox.
        case place
        /// It waits for the other jobs of its batch.
        case barrier
        /// It waits for its dependencies.
        case after
        /// It is tried again when it is `due`.
        case retry
    }

    /// An intermediate picture, made before a barrier.
    package struct Staged: Codable, Sendable, Hashable {
        package var index: Int
        package var path: String
        package var result: RenderedOutput

        package init(index: Int, path: String, result: RenderedOutput) {
            (self.index, self.path, self.result) = (index, path, result)
        }
    }

    /// The removal of a file: by whom, and when.
    package struct Removal: Codable, Sendable, Hashable {
        /// `Keep Archive=90d`, or `pipectl clean`.
        package var by: String
        package var time: Double

        package init(by: String, time: Double) { (self.by, self.time) = (by, time) }
    }

    package var id: Int
    /// The order within the queue.
    package var position: Int
    package var batch: Int?
    package var order: WorkOrder
    /// Relative to the inbox, or the name given to `add`.
    package var path: String
    package var origin: Origin
    /// Where the original lies now.
    package var source: String
    package var file: FileStatus.Identity
    package var state: JobState
    package var reason: String?
    /// Why it failed, or why its latest try did.
    package var error: String?
    package var advice: String?
    package var intent: PublishIntent?
    /// Its results in the outbox.
    package var outputs: [PublishedFile] = []
    package var story: JobStory?
    /// How often it was begun.
    package var tries = 0
    package var disposed = false
    package var created: Double
    package var started: Double?
    package var finished: Double?
    /// The address that is downloaded first; then `source` is where the download goes.
    package var url: String?
    /// The server of the URL (`WebAddress.server`).
    package var host: String?
    /// How far the file at `source` is good, after a download that broke off.
    package var partial: FetchResume?
    /// The higher priority is taken first; among equals, the lower position.
    package var priority = 0
    package var waitReason: WaitReason?
    /// When it is tried again.
    package var due: Double?
    /// The number of passing failures that it has met.
    package var setbacks = 0
    /// How often the daemon has crashed while it was in work.
    package var crashes = 0
    /// The kind of `error`.
    package var failure: FailureClass?
    /// How many barriers it has passed.
    package var segment = 0
    /// The pictures that it has made up to that barrier, on disk.
    package var staged: [Staged] = []
    /// It runs even if a job that it comes after has failed or been cancelled.
    package var anyway = false
    /// The place that its original is being brought back to, until the job is queued again.
    package var returns: String?
    /// Its original was removed from where it lay, at somebody's wish.
    package var removed: Removal?
    /// The order of its results in the outbox, while it is processed again.
    package var former: WorkOrder?
    /// The folder that its original goes to, if that is not `cancelled/`.
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

    /// Nothing is left to do: the job has ended, and its original lies where it belongs.
    package var isOver: Bool { state.isFinal && disposed && returns == nil }

    /// Its original has still to be downloaded. `FirstQueue` says the same of rows.
    package var needsDownload: Bool { url != nil && file == .none }

    package var plan: Plan { Planner.plan(outputs: order.outputs, inBatch: batch != nil) }
}
