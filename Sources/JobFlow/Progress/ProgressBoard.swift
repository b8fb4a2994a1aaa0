package import DaemonRuntime
import JobModel

/// The progress of the batches that have jobs in the window of the job queue. Jobs without a batch are treated as one
/// batch, whose key is nil.
@Coordination
package final class ProgressBoard {
    private var batches: [Int?: BatchProgress] = [:]

    package subscript(batch: Int?) -> BatchProgress? { batches[batch] }

    /// IDs of the batches that have jobs in the window.
    package var present: [Int] { batches.keys.compactMap(\.self).sorted() }

    /// Notes that a job has entered the window.
    func entered(_ job: Job) {
        let batch = batches[job.record.batch] ?? BatchProgress()
        batches[job.record.batch] = batch
        batch.entered(job)
    }

    /// Notes that a job has left the window, and that its new state is recorded.
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
