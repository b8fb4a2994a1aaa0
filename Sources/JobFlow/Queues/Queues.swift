package import JobLedger
package import JobModel
package import OperationGraph
package import PipelineModel
import WorkerPools

/// The queues of operations, in the order in which a job passes them.
package struct Queues: Sendable {
    package let download: GatedQueue
    package let render: GatedQueue
    package let publish: GatedQueue
    /// Reports events in order, and is never paused.
    package let announce: GatedQueue

    package init(_ settings: Settings) {
        download = GatedQueue("download", limit: settings.download, automatic: { 8 })
        render = GatedQueue("render", limit: settings.render, automatic: ProcessorCount.usable)
        publish = GatedQueue("publish", limit: settings.publish, automatic: { 128 })
        announce = GatedQueue("announce", limit: .count(1), isSerial: true, automatic: { 1 })
    }

    package var all: [GatedQueue] { pausable + [announce] }
    /// The queues that can be paused and limited.
    var pausable: [GatedQueue] { [download, render, publish] }

    subscript(entry: FirstQueue) -> GatedQueue {
        switch entry {
        case .download: download
        case .render: render
        }
    }

    /// Whether a publication should wait for others that will follow soon. The first and the last publication of a
    /// burst never wait. No publication waits while half of the publish queue's slots are in use, so that rendered jobs
    /// find a free slot.
    var awaitsOthers: @Sendable () -> Bool {
        { [render, publish] in
            let behind = publish.report
            return render.report.running > 0 && behind.running > 0 && behind.running * 2 < behind.effective
        }
    }

    /// Why no queued job starts in this queue; nil if jobs can start.
    package func waitReason(_ entry: FirstQueue, _ ledger: Ledger) -> String? {
        let report = self[entry].report
        return report.paused ? report.pauseText : ledger.unwritableReason
    }
}
