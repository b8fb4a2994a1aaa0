package import DaemonRuntime
import JobLedger
import PipelineModel

/// The pace of the batches that have jobs in the jobs. Jobs without a batch are counted together, under nil.
@Coordination
package final class ProgressBoard {
    private var batches: [Int?: BatchProgress] = [:]

    package subscript(batch: Int?) -> BatchProgress? { batches[batch] }

    /// Batches with jobs in the jobs.
    package var present: [Int] { batches.keys.compactMap(\.self).sorted() }

    /// A job has entered the jobs.
    func entered(_ job: Job) {
        let batch = batches[job.record.batch] ?? BatchProgress()
        batches[job.record.batch] = batch
        batch.entered(job)
    }

    /// A job has left the window, and its new state is recorded.
    func left(_ record: JobRecord) {
        guard let batch = batches[record.batch] else { return }
        batch.left(record)
        if batch.inWindow == 0 { batches[record.batch] = nil }
    }

    /// Restarts the measurements after a pause.
    func resumed() {
        for batch in batches.values { batch.resumed() }
    }
}
