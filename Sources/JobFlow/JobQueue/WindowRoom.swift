import PipelineModel

/// How many jobs of each priority a window of `size` jobs can take.
struct WindowRoom {
    let size: Int

    /// A job of this priority may enter while the window contains fewer jobs than this limit. Each priority has room
    /// that lower priorities can't use, so its jobs need not wait for theirs to finish. Low-priority jobs leave part of
    /// the window free, and high-priority jobs may exceed its size.
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

    /// Free places that make the next query worthwhile. One query for each job that ends would cost more than the job.
    var portion: Int { max(1, size / 16) }

    /// Whether too many jobs have left the window unrecorded for it to take more. Rows that reach a barrier without any
    /// work leave at once, so the size of the window does not limit their number.
    func isBlocked(by unrecorded: Int) -> Bool { unrecorded > max(256, size) }
}
