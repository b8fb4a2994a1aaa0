import DaemonRuntime
import JobLedger
import PipelineModel
import WorkerPools

/// Counts what has ended since the daemon's start. A monitor reads the counters when it likes, and misses nothing.
@Coordination
final class Meters {
    struct End: Hashable, Comparable {
        /// Nil for jobs that end without having begun, many at a time.
        var recipe: String?
        var result: JobState

        static func < (one: End, other: End) -> Bool {
            (one.recipe ?? "", one.result.rawValue) < (other.recipe ?? "", other.result.rawValue)
        }
    }

    struct Failure: Hashable, Comparable {
        var operation: String
        var kind: FailureClass

        static func < (one: Failure, other: Failure) -> Bool {
            (one.operation, one.kind.rawValue) < (other.operation, other.kind.rawValue)
        }
    }

    /// The operations of one kind.
    struct Operations: Sendable {
        var durations = Histogram()
        var read = 0
        var written = 0
    }

    /// The operations that work on a picture.
    nonisolated static let kinds = ["download", "render", "publish"]

    private(set) var ends: [End: Int] = [:]
    private(set) var failures: [Failure: Int] = [:]
    private(set) var operations: [String: Operations] = [:]
    /// From a file's being taken to its results' being published.
    private(set) var jobs = Histogram()

    /// An operation has ended, be it that its job goes on, is tried again, or has ended with it.
    func ended(_ chapter: JobStory.Chapter) {
        var all = operations[chapter.kind] ?? Operations()
        if let started = chapter.started, let finished = chapter.finished { all.durations.add(finished - started) }
        all.read += chapter.account?.read ?? 0
        all.written += chapter.account?.written ?? 0
        operations[chapter.kind] = all
        if let kind = chapter.failure { failures[Failure(operation: chapter.kind, kind: kind), default: 0] += 1 }
    }

    func ended(_ record: JobRecord) {
        ends[End(recipe: record.order.recipe, result: record.state), default: 0] += 1
        if record.state == .done, record.former == nil, let finished = record.finished {
            jobs.add(finished - record.created)
        }
    }

    /// Jobs have ended as rows.
    func ended(_ count: Int, _ result: JobState) {
        if count > 0 { ends[End(recipe: nil, result: result), default: 0] += count }
    }
}
