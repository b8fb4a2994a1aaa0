import JobModel
import PipelineModel
import SystemCalls

@testable import JobLedger

/// A work order for tests that don't depend on its settings.
let order = WorkOrder(
    recipe: "r", adHoc: false, outputs: [], original: .archive, conflict: .number, outbox: "/out", inbox: "/in")

/// Returns a job as an inbox creates it.
func job(_ id: Int, _ state: JobState = .queued) -> JobRecord {
    JobRecord(
        id: id, position: id, order: order, path: "\(id).png", origin: .claimed,
        source: "/in/.pipelined/0/\(id).png",
        file: FileStatus.Identity(device: 1, inode: id, size: 10, modified: 20), state: state, created: 1000)
}
