package import DaemonRuntime
import JobLedger
import PipelineModel

/// How fast the batches go of which something is in the window. Jobs in no batch are together, under nil.
@Coordination
package final class ProgressBoard {
    private var batches: [Int?: BatchProgress] = [:]

    package subscript(batch: Int?) -> BatchProgress? { batches[batch] }

    /// Batches of which something is in the window.
    package var present: [Int] { batches.keys.compactMap(\.self).sorted() }

    /// A job has come into the window.
    func entered(_ job: Job) {
        let batch = batches[job.record.batch] ?? BatchProgress()
        batches[job.record.batch] = batch
        batch.entered(job)
    }

    /// A job has left the window, and that is recorded.
    func left(_ record: JobRecord) {
        guard let batch = batches[record.batch] else { return }
        batch.left(record)
        if batch.inWindow == 0 { batches[record.batch] = nil }
    }

    /// A pause is over.
    func resumed() {
        for batch in batches.values { batch.resumed() }
    }
}
