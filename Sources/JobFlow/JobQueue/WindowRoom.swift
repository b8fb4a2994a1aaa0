import PipelineModel

/// The room of a window of this size for jobs of each priority.
struct WindowRoom {
    let size: Int

    /// The window takes a job of this priority while it holds fewer jobs than this. Each priority has room that lower
    /// ones can't use, so it need not wait for them: low ones leave part of the window free, and high ones may exceed
    /// it.
    func limit(of priority: Priority) -> Int {
        let reserve = max(4, size / 8)
        return switch priority {
        case .low: max(1, size / 2, size - reserve)
        case .normal: size
        case .high: size + reserve
        }
    }

    /// The lowest priority that still has room beside `count` jobs.
    func lowest(beside count: Int) -> Priority? { Priority.allCases.first { count < limit(of: $0) } }

    /// Number of rows taken at a time: a query for each job that ends would cost more than the job.
    var portion: Int { max(1, size / 16) }

    /// Jobs that reach a barrier without any work leave at once, so the window takes no more while many are unrecorded.
    func isBlocked(by unrecorded: Int) -> Bool { unrecorded > max(256, size) }
}
