package import PipelineModel

package struct DaemonStatus: Sendable {
    package typealias Inbox = (
        folder: String, recipe: String, watch: String, settling: Int, ignored: Int, problem: String?
    )
    /// The number and size of the files that jobs have left in a place, with the place's rule from [Keep].
    package typealias Kept = (place: KeptPlace, rule: String, files: Int, bytes: Int)

    /// When the daemon started.
    package var started: Double
    package var root: String?
    package var isStopping: Bool
    /// Jobs by the state that clients see. Settling files count as waiting.
    package var jobs: [JobState: Int] = [:]
    package var ignoredCount = 0
    package var waiting: [WaitingCount] = []
    package var queues: [QueueReport] = []
    package var inboxes: [Inbox] = []
    /// A few of the most recently ignored files.
    package var ignored: [IgnoredFile] = []
    package var ignoredReasons: [IgnoredReason] = []
    package var workers = 0
    /// The cursor of the latest event.
    package var cursor = 0
    package var problems: [String] = []
    package var kept: [Kept] = []
    package var disks: [DiskFigure] = []
    /// Nil if this node is in no fleet.
    package var fleet: FleetReport?

    package init(started: Double, root: String?, isStopping: Bool) {
        (self.started, self.root, self.isStopping) = (started, root, isStopping)
    }
}

/// A reason for waiting, and the number of jobs that share it.
package typealias WaitingCount = (reason: String, jobs: Int)

/// A file that an inbox leaves alone, with the reason.
package typealias IgnoredFile = (path: String, reason: String)

/// A reason for ignoring files, the number of files ignored for this reason, and the path of an example.
package typealias IgnoredReason = (reason: String, files: Int, example: String)

/// Size and free space of a disk that contains originals or results.
package typealias DiskFigure = (path: String, device: Int, bytes: Int, free: Int)
