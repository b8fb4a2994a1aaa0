/// The kinds of words on the command line, for completion.
enum WordKind: Sendable {
    case oneOf([String])
    case verb
    case file
    case folder
    /// The ID of a job in one of these states, or of any job if the list is empty.
    case job(in: [String])
    case batch
    case recipe
    case queue
    case node
    case stage
    case chain
}

extension WordKind {
    static let anyJob = WordKind.job(in: [])
    static let unfinishedJob = WordKind.job(in: ["waiting", "queued", "running", "cancelling"])
    static let jobToBegin = WordKind.job(in: ["waiting", "queued"])
    static let doneJob = WordKind.job(in: ["done"])
    static let jobToRetry = WordKind.job(in: ["failed", "cancelled"])
    static let overJob = WordKind.job(in: ["done", "failed", "cancelled"])
}
