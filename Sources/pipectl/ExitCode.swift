enum ExitCode: Int32, Sendable, CaseIterable {
    case done = 0
    case failed = 1
    case usage = 2
    case unreachable = 3
    case noSuchJob = 4
    case interrupted = 130

    var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "a job failed or was cancelled, or what was asked could not be done"
        case .usage: "usage: what was asked makes no sense"
        case .unreachable: "the daemon is not reachable"
        case .noSuchJob: "there is no such job"
        case .interrupted: "ended by Ctrl-C"
        }
    }
}
