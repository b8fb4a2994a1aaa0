import PipelineModel

/// Limits how many jobs of each priority enter a window of `size` jobs.
struct WindowRoom {
    let size: Int

    /// Returns the limit for a priority. A job of this priority may enter while the window contains fewer jobs than the
    /// limit. Each priority has room that lower priorities can't use, so a job need not wait for jobs of lower
    /// priority. Low-priority jobs leave part of the window free, and high-priority jobs may exceed its size.
    func limit(of priority: Priority) -> Int {
        let reserve = max(4, size / 8)
        return switch priority {
        case .low: max(1, size / 2, size - reserve)
        case .normal: size
        case .high: size + reserve
        }
    }

    /// Returns the lowest priority whose jobs may still enter a window that contains `count` jobs; nil if the window is
    /// full.
    func lowest(beside count: Int) -> Priority? { Priority.allCases.first { count < limit(of: $0) } }

    /// Number of free places at which the window queries the ledger for more rows. A query for each job that ends would
    /// cost more than the job.
    var portion: Int { max(1, size / 16) }

    /// Whether the window takes no more rows for now, because the ledger has not yet recorded the new states of
    /// `unrecorded` jobs. The window's size alone does not limit `unrecorded`: a job without work before its barrier
    /// moves to the barrier without entering the window.
    func isBlocked(by unrecorded: Int) -> Bool { unrecorded > max(256, size) }
}
