import DaemonRuntime
import JobLedger
import OperationGraph
import PipelineModel

/// Jobs whose original is downloaded first. What has come is an original like one that `pipectl add` has passed: it lies in the spool, and
/// is not downloaded again, after a crash neither.
extension Supervisor {
    nonisolated func queue(of entry: Entry) -> GatedQueue {
        switch entry {
        case .download: download
        case .render: render
        }
    }

    /// What has to come before such a job can be rendered, if anything.
    func downloadOperation(_ record: JobRecord) -> DownloadOperation? {
        guard record.needsDownload, let url = record.url else { return nil }
        return DownloadOperation(
            string: url, into: record.source, goingOn: record.partial,
            limits: DownloadOperation.Limits(settings.downloads), pool: fetch,
            files: files)
    }

    /// Where a new one goes.
    nonisolated func downloadPath() -> String { "\(places.spool)/\(Spool.folder())/download" }

    func downloading(_ job: Job, _ state: OperationState) {
        if state.isFinal {
            answered(job)
            if let lane = job.lane {
                turns.leave(lane)
                if turns.due.contains(lane) { fill(arrived: nil) }
            }
        }
        switch state {
        case .executing:
            guard job.record.state == .queued else { return }
            job.record.started = Timestamp.now()
            job.begin("DownloadOperation", "download")
            move(job, to: job.cancelRequested ? .cancelling : .running)
            watchForHangs()
        case .finished:
            if let response = job.download?.response { came(job, response) }
            showHeld(job)
            settleCancelling(job)
        case .failed:
            job.end("DownloadOperation", job.download?.failure, job.download?.account)
            job.record.partial = job.download?.partial
            job.cancelOperations()
            if job.cancelRequested || job.returning { return settleCancelling(job) }
            fail(job, job.download?.failure ?? JobFailure("the download failed"))
        case .cancelled:
            job.end("DownloadOperation", state, nil, job.download?.account)
            settleCancelling(job)
        case .pending, .ready: break
        }
    }

    private func came(_ job: Job, _ response: DownloadOperation.Response) {
        job.record.path = response.name
        job.record.file = response.file
        job.record.partial = nil
        let from = response.url == job.record.url ? "" : " from \(WebAddress.shown(response.url))"
        job.end("DownloadOperation", .finished, "\(response.bytes) bytes\(from)", job.download?.account)
        ledger.recordDownload(of: job.record)
        ledger.record(job.record)
    }
}

extension Job {
    /// The queue that it began in.
    var entry: Entry { download == nil ? .render : .download }
}
