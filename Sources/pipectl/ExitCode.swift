enum ExitCode: Int32, Sendable, CaseIterable {
    case done = 0
    case failed = 1
    case usage = 2
    case unreachable = 3
    case noSuchJob = 4
    case timedOut = 124
    case interrupted = 130

    var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "a job failed or was cancelled, or the request could not be carried out"
        case .usage: "usage error: the request makes no sense"
        case .unreachable: "the daemon is not reachable"
        case .noSuchJob: "there is no such job"
        case .timedOut: "the time of --timeout has passed"
        case .interrupted: "ended by Ctrl-C"
        }
    }
}
