package import PipelineModel

package struct DaemonStatus: Sendable {
    /// When the daemon started.
    package var started: Double
    package var root: String?
    package var isStopping: Bool
    /// Jobs by the state that clients see. Settling files count as waiting.
    package var jobs: [JobState: Int] = [:]
    package var ignoredCount = 0
    package var waiting: [WaitingCount] = []
    package var queues: [QueueReport] = []
    package var inboxes: [InboxStatus] = []
    /// The latest few ignored files.
    package var ignored: [IgnoredFile] = []
    package var workers = 0
    /// The cursor of the latest event.
    package var cursor = 0
    package var problems: [String] = []
    package var kept: [KeptFiles] = []
    package var disks: [DiskFigure] = []
    /// Nil if this node is in no fleet.
    package var fleet: FleetReport?

    package init(started: Double, root: String?, isStopping: Bool) {
        (self.started, self.root, self.isStopping) = (started, root, isStopping)
    }

    package struct InboxStatus: Sendable {
        package var folder: String
        package var recipe: String
        /// How the inbox is watched.
        package var watch: String
        package var settling: Int
        package var ignored: Int
        package var problem: String?

        package init(folder: String, recipe: String, watch: String, settling: Int, ignored: Int, problem: String?) {
            (self.folder, self.recipe, self.watch) = (folder, recipe, watch)
            (self.settling, self.ignored, self.problem) = (settling, ignored, problem)
        }
    }

    /// The files that jobs have left in a place, with the place's rule in [Keep].
    package struct KeptFiles: Sendable {
        package var place: KeptPlace
        package var rule: String
        package var files: Int
        package var bytes: Int

        package init(place: KeptPlace, rule: String, files: Int, bytes: Int) {
            (self.place, self.rule, self.files, self.bytes) = (place, rule, files, bytes)
        }
    }
}

/// A reason for waiting, and the number of jobs that share it.
package struct WaitingCount: Sendable {
    package var reason: String
    package var jobs: Int

    package init(reason: String, jobs: Int) { (self.reason, self.jobs) = (reason, jobs) }
}

/// A file that an inbox leaves alone, with the reason.
package struct IgnoredFile: Sendable {
    package var path: String
    package var reason: String

    package init(path: String, reason: String) { (self.path, self.reason) = (path, reason) }
}

/// Size and free space of a disk that contains originals or results.
package struct DiskFigure: Sendable, Hashable {
    package var path: String
    package var device: Int
    package var bytes: Int
    package var free: Int

    package init(path: String, device: Int, bytes: Int, free: Int) {
        (self.path, self.device, self.bytes, self.free) = (path, device, bytes, free)
    }
}
