import JobLedger
import ServiceProgram

/// The subject of an operation, as it appears in the log.
enum OperationSubject: CustomStringConvertible, Sendable {
    /// A job that has passed `segment` barriers.
    case job(LogSubject, segment: Int = 0)
    case batch(Int, BatchNews)

    var description: String {
        switch self {
        case .job(let job, segment: 0): "job \(job.jobs.first ?? 0)"
        case .job(let job, let segment): "job \(job.jobs.first ?? 0) behind barrier \(segment)"
        case .batch(let id, let news): "batch \(id) \(news.rawValue)"
        }
    }

    var fields: LogSubject {
        switch self {
        case .job(let job, _): job
        case .batch(let id, _): LogSubject(batch: id)
        }
    }
}
