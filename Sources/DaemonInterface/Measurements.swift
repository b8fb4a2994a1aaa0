/// The figures that a monitor reads.
package struct Measurements: Sendable {
    package var status: DaemonStatus
    package var counters: Counters
    package var previewsMade: Int
    /// Reports on the recipes' hooks, keyed by recipe.
    package var hooks: [String: HookReport]
    /// Number of missing resources for which jobs wait.
    package var shortages: Int
    /// The memory granted to the pictures being rendered; `budget` is the limit for all of them together.
    package var memory: (granted: Int64, budget: Int64) = (0, 0)
    /// When the oldest queued job was created.
    package var oldestQueued: Double?

    package init(
        status: DaemonStatus, counters: Counters, previewsMade: Int, hooks: [String: HookReport], shortages: Int
    ) {
        (self.status, self.counters, self.previewsMade) = (status, counters, previewsMade)
        (self.hooks, self.shortages) = (hooks, shortages)
    }
}

package struct HookReport: Sendable {
    package var failures: Int
    /// Runs that have ended since the daemon's start.
    package var runs: Int
    /// The problem of the latest run; nil if that run succeeded.
    package var problem: String?

    package init(failures: Int = 0, runs: Int = 0, problem: String? = nil) {
        (self.failures, self.runs, self.problem) = (failures, runs, problem)
    }
}
