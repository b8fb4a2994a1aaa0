import PipelineModel
import SystemCalls
import WorkerProtocol

/// A job as the ledger keeps it.
struct JobRecord: Sendable {
    /// How the original came to be where it is, which decides what becomes of it.
    enum Origin: String, Sendable {
        /// Renamed from the inbox into its `.pipelined` folder.
        case claimed
        /// Left in its place, for `Original=keep`.
        case kept
        /// A copy of what `pipectl add` passed, or a download.
        case spooled
    }

    /// What a row that is `waiting` waits for. One in the window waits for nothing that outlives the daemon, and has none.
    enum Hold: String, Sendable {
        /// Room in its outbox, the disk of its inbox or outbox, or what else a `Shortage` is about.
        case place
        /// The other jobs of its batch.
        case barrier
        /// The jobs that it is to come after.
        case after
        /// `due`, when it is tried again.
        case retry
    }

    /// A picture of the plan that was made before a barrier.
    struct Staged: Codable, Sendable, Hashable {
        var index: Int
        var path: String
        var result: RenderedOutput
    }

    var id: Int
    /// The order within the queue.
    var position: Int
    var batch: Int?
    var order: WorkOrder
    /// Relative to the inbox, or the name given to `add`.
    var path: String
    var origin: Origin
    /// Where the original lies now.
    var source: String
    var file: FileStatus.Identity
    var state: JobState
    var reason: String?
    /// Why it failed, or why it did at its latest try.
    var error: String?
    var advice: String?
    var intent: PublishIntent?
    var outputs: [String] = []
    var story: JobStory?
    /// How often it was begun.
    var tries = 0
    var disposed = false
    var created: Double
    var started: Double?
    var finished: Double?
    /// What is downloaded first; then `source` is where it goes.
    var url: String?
    /// The server of the URL (`WebAddress.server`).
    var host: String?
    /// How far the file at `source` is good, of a download that broke off.
    var partial: FetchResume?
    /// The higher is taken first; within one, the position counts.
    var priority = 0
    var hold: Hold?
    /// When it is tried again.
    var due: Double?
    /// How often it has met what may pass.
    var setbacks = 0
    /// How often the daemon has crashed while it was in work.
    var crashes = 0
    /// Of what kind `error` is.
    var failure: FailureClass?
    /// How many barriers it has passed.
    var segment = 0
    /// What it has made up to there, on disk.
    var staged: [Staged] = []
    /// It runs even if what it comes after has failed or been cancelled.
    var anyway = false
    /// The place that its original is being brought back to, until the job is queued again.
    var returns: String?
}

extension JobRecord {
    /// Nothing is left to do: the job has ended, and its original lies where it belongs.
    var isOver: Bool { state.isFinal && disposed && returns == nil }

    /// Nothing of it is there yet.
    var needsDownload: Bool { url != nil && file == .none }

    var plan: Plan { Planner.plan(outputs: order.outputs, inBatch: batch != nil) }
}

/// The renames that publish a job, recorded before the first of them.
struct PublishIntent: Codable, Sendable, Hashable {
    struct Step: Codable, Sendable, Hashable {
        var staging: String
        var target: String
        /// What happens when the target is taken.
        var conflict: ConflictPolicy
    }

    var steps: [Step]
}
