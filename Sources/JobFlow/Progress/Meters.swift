package import DaemonInterface
package import DaemonRuntime
package import JobModel
package import PipelineModel

/// Counts jobs and operations as they end.
@Coordination
package final class Meters {
    package private(set) var counters = Counters()

    /// Counts an operation that has ended, no matter what happens to its job afterwards.
    package func ended(_ chapter: JobStory.Chapter) {
        var all = counters.operations[chapter.kind] ?? Counters.Operations()
        if let started = chapter.started, let finished = chapter.finished { all.durations.add(finished - started) }
        all.read += chapter.account?.read ?? 0
        all.written += chapter.account?.written ?? 0
        counters.operations[chapter.kind] = all
        if let kind = chapter.failure {
            counters.failures[Counters.Failure(operation: chapter.kind, kind: kind), default: 0] += 1
        }
    }

    package func ended(_ record: JobRecord) {
        counters.ends[Counters.End(recipe: record.order.recipe, result: record.state), default: 0] += 1
        if record.state == .done, record.former == nil, let finished = record.finished {
            counters.jobs.add(finished - record.created)
        }
    }

    /// Counts jobs that the ledger ended in bulk, without loading them into the window. Their recipes are not counted.
    package func ended(_ count: Int, _ result: JobState) {
        if count > 0 { counters.ends[Counters.End(recipe: nil, result: result), default: 0] += count }
    }
}
