import PipelineModel

/// How much room a window of this size has for jobs of each priority.
struct WindowRoom {
    let size: Int

    /// The window takes a job of this priority while it holds fewer jobs than this. Each priority finds room that the
    /// lower ones leave it, and need not wait until these have been worked off: low ones leave some of the window, high
    /// ones go beyond it.
    func limit(of priority: Priority) -> Int {
        let reserve = max(4, size / 8)
        return switch priority {
        case .low: max(1, size / 2, size - reserve)
        case .normal: size
        case .high: size + reserve
        }
    }

    /// The lowest priority with room beside so many jobs.
    func lowest(beside count: Int) -> Priority? { Priority.allCases.first { count < limit(of: $0) } }

    /// Rows are taken so many at a time: a query for each job that ends would cost more than the job.
    var portion: Int { max(1, size / 16) }

    /// Jobs that reach a barrier without any work leave at once: no more are taken while many are unrecorded.
    func isBlocked(by unrecorded: Int) -> Bool { unrecorded > max(256, size) }
}
