package import PipelineModel

/// Counts of jobs and operations that have ended since the daemon's start. The counts never decrease, so a monitor
/// misses nothing, no matter how often it reads them.
package struct Counters: Sendable {
    package struct End: Hashable, Comparable, Sendable {
        /// Nil for jobs that end in bulk without having begun.
        package var recipe: String?
        package var result: JobState

        package init(recipe: String? = nil, result: JobState) {
            (self.recipe, self.result) = (recipe, result)
        }

        package static func < (one: End, other: End) -> Bool {
            (one.recipe ?? "", one.result.rawValue) < (other.recipe ?? "", other.result.rawValue)
        }
    }

    package struct Failure: Hashable, Comparable, Sendable {
        package var operation: String
        package var kind: FailureClass

        package init(operation: String, kind: FailureClass) {
            (self.operation, self.kind) = (operation, kind)
        }

        package static func < (one: Failure, other: Failure) -> Bool {
            (one.operation, one.kind.rawValue) < (other.operation, other.kind.rawValue)
        }
    }

    /// Totals of all operations of one kind.
    package struct Operations: Sendable {
        package var durations = Histogram()
        package var read = 0
        package var written = 0

        package init() {}
    }

    /// The operations that work on a picture.
    package static let kinds = ["download", "render", "publish"]

    package var ends: [End: Int] = [:]
    package var failures: [Failure: Int] = [:]
    package var operations: [String: Operations] = [:]
    /// Time from the claim of a job's file to the publication of its results.
    package var jobs = Histogram()

    package init() {}
}
