extension Control.Overview {
    /// The inboxes' problems, except problems that `problems` already contains.
    public var inboxProblems: [String] {
        inboxes.compactMap { inbox in
            guard let problem = inbox.problem, !problems.contains(where: { $0.contains(problem) }) else { return nil }
            return "\(inbox.path): \(problem)"
        }
    }
}

extension Control.Jobs {
    public init() {
        self.init(
            waiting: 0, queued: 0, running: 0, cancelling: 0, done: 0, failed: 0, cancelled: 0, ignored: 0)
    }
}
