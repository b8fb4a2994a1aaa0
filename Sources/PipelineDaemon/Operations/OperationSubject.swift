/// What an operation is about, as the log says it.
enum OperationSubject: CustomStringConvertible {
    /// A job, behind so many barriers.
    case job(Int, segment: Int = 0)
    case batch(Int, BatchNews)

    var description: String {
        switch self {
        case .job(let id, segment: 0): "job \(id)"
        case .job(let id, let segment): "job \(id) behind barrier \(segment)"
        case .batch(let id, let news): "batch \(id) \(news.rawValue)"
        }
    }
}
