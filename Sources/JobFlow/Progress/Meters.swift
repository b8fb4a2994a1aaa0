package import DaemonRuntime
package import JobModel
package import PipelineModel
import WorkerPools

/// Counts ended jobs and operations since the daemon's start. The counters never decrease, so a monitor can read them
/// at any time without missing anything.
@Coordination
package final class Meters {
    package struct End: Hashable, Comparable {
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

    package struct Failure: Hashable, Comparable {
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
    }

    /// The operations that work on a picture.
    package nonisolated static let kinds = ["download", "render", "publish"]

    package private(set) var ends: [End: Int] = [:]
    package private(set) var failures: [Failure: Int] = [:]
    package private(set) var operations: [String: Operations] = [:]
    /// Time from claim to publication.
    package private(set) var jobs = Histogram()

    /// Counts an ended operation, whether its job continues, is retried, or ends.
    package func ended(_ chapter: JobStory.Chapter) {
        var all = operations[chapter.kind] ?? Operations()
        if let started = chapter.started, let finished = chapter.finished { all.durations.add(finished - started) }
        all.read += chapter.account?.read ?? 0
        all.written += chapter.account?.written ?? 0
        operations[chapter.kind] = all
        if let kind = chapter.failure { failures[Failure(operation: chapter.kind, kind: kind), default: 0] += 1 }
    }

    package func ended(_ record: JobRecord) {
        ends[End(recipe: record.order.recipe, result: record.state), default: 0] += 1
        if record.state == .done, record.former == nil, let finished = record.finished {
            jobs.add(finished - record.created)
        }
    }

    /// Counts jobs that have ended in bulk, outside the window.
    package func ended(_ count: Int, _ result: JobState) {
        if count > 0 { ends[End(recipe: nil, result: result), default: 0] += count }
    }
}
