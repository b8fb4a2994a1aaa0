package import PipelineModel
import ServiceProgram
package import SystemCalls

/// A job as the ledger stores it.
package struct JobRecord: Sendable {
    /// How the daemon obtained the original. The origin decides what happens to the original when the job ends.
    package enum Origin: String, Sendable {
        /// Renamed from the inbox into its `.pipelined` folder.
        case claimed
        /// Left in the inbox, for `Original=keep`.
        case kept
        /// A file in the spool: the copy of a file that `pipectl add` passed, or a download.
        case spooled
    }

    /// Why a job is `waiting`. Nil if the job waits in the window of loaded jobs. The ledger needs no reason for such a
    /// wait, because a restart ends it.
    package enum WaitReason: String, Sendable {
        /// The job waits for a resource that a `Shortage` describes, such as space in its outbox.
        case place
        /// The job waits at a barrier for the other jobs of its batch.
        case barrier
        /// The job waits for its dependencies.
        case after
        /// The job waits for its next retry, at `due`.
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
        /// The rule or command that removed the file: `Keep Archive=90d`, or `pipectl clean`.
        package var by: String
        package var time: Double

        package init(by: String, time: Double) { (self.by, self.time) = (by, time) }
    }

    package var id: Int
    /// Position in the queue.
    package var position: Int
    package var batch: Int?
    package var order: WorkOrder
    /// The original's path relative to its inbox, or the name that `pipectl add` passed.
    package var path: String
    package var origin: Origin
    /// The original's current path.
    package var source: String
    package var file: FileStatus.Identity
    package var state: JobState
    package var reason: String?
    /// The error that made the job or its latest attempt fail.
    package var error: String?
    package var advice: String?
    package var intent: PublishIntent?
    /// The published results of the job.
    package var outputs: [PublishedFile] = []
    package var story: JobStory?
    /// Number of attempts started.
    package var tries = 0
    package var disposed = false
    package var created: Double
    package var started: Double?
    package var finished: Double?
    /// The URL of the original. Until the download is complete, `source` is the path that the download writes to.
    package var url: String?
    /// The server of the URL (`WebAddress.server`).
    package var host: String?
    /// The usable part of the file at `source` after an interrupted download.
    package var partial: FetchResume?
    /// Jobs with a higher priority run first. Among jobs of equal priority, the job with the lowest position runs
    /// first.
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
    /// Number of barriers that the job has reached.
    package var segment = 0
    /// Intermediate pictures on disk, which the stages before the latest barrier produced.
    package var staged: [Staged] = []
    /// Whether the job runs even if a dependency fails or is cancelled.
    package var anyway = false
    /// The path to which the original moves while the job is brought back for another attempt; nil at other times.
    package var returns: String?
    /// The removal of the original by a rule of [Keep] or by `pipectl clean`; nil if there was none.
    package var removed: Removal?
    /// During a redo, the work order that produced the results in the outbox.
    package var former: WorkOrder?
    /// The folder to which an undo moves the original; nil for `cancelled/`.
    package var goal: String?
    /// The name, caption and credit that a list gives for the picture.
    package var texts: PictureTexts?
    /// The ID of the user who dropped or added the picture.
    package var owner = 0
    /// The user and the action that led to this state, such as `dropped by user 1000`. The ledger stores this text in
    /// the job's event, but not in its row.
    package var cause: String?

    package init(
        id: Int, position: Int, batch: Int? = nil, order: WorkOrder, path: String, origin: Origin, source: String,
        file: FileStatus.Identity, state: JobState, reason: String? = nil, error: String? = nil, advice: String? = nil,
        intent: PublishIntent? = nil, outputs: [PublishedFile] = [], story: JobStory? = nil, tries: Int = 0,
        disposed: Bool = false, created: Double, started: Double? = nil, finished: Double? = nil, url: String? = nil,
        host: String? = nil, partial: FetchResume? = nil, priority: Int = 0, waitReason: WaitReason? = nil,
        due: Double? = nil, setbacks: Int = 0, crashes: Int = 0, failure: FailureClass? = nil, segment: Int = 0,
        staged: [Staged] = [], anyway: Bool = false, returns: String? = nil, removed: Removal? = nil,
        former: WorkOrder? = nil, goal: String? = nil, texts: PictureTexts? = nil, owner: Int = 0
    ) {
        (self.id, self.position, self.batch, self.order, self.path) = (id, position, batch, order, path)
        (self.origin, self.source, self.file, self.state) = (origin, source, file, state)
        (self.reason, self.error, self.advice, self.intent) = (reason, error, advice, intent)
        (self.outputs, self.story, self.tries, self.disposed) = (outputs, story, tries, disposed)
        (self.created, self.started, self.finished) = (created, started, finished)
        (self.url, self.host, self.partial, self.priority) = (url, host, partial, priority)
        (self.waitReason, self.due, self.setbacks, self.crashes) = (waitReason, due, setbacks, crashes)
        (self.failure, self.segment, self.staged, self.anyway) = (failure, segment, staged, anyway)
        (self.returns, self.removed, self.former, self.goal, self.texts) = (returns, removed, former, goal, texts)
        self.owner = owner
    }
}

extension JobRecord {
    /// Whether the job has ended and its original has reached its final place, so that nothing is left to do.
    package var isOver: Bool { state.isFinal && disposed && returns == nil }

    /// Whether the original still has to be downloaded. `FirstQueue.condition` is the same test in SQL.
    package var needsDownload: Bool { url != nil && file == .none }

    package var plan: Plan { Planner.plan(outputs: order.outputs, inBatch: batch != nil) }

    package var entry: FirstQueue { needsDownload ? .download : .render }

    /// Whether the original is a file that lists other pictures.
    package var isList: Bool { url == nil && origin != .spooled && AddressList.kind(of: path) != nil }

    /// Whether the daemon removes the original instead of moving it, because the job is done and the recipe has
    /// `Original=delete`.
    package var removesOriginal: Bool { state == .done && order.original == .delete }
}

extension JobRecord.Removal {
    /// `removed by Keep Archive=90d on 2026-03-01 09:30:00`
    package var text: String { "removed by \(by) on \(Timestamp.dated(time))" }
}
