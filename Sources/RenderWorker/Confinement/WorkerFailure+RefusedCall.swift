import WorkerConfinement
import WorkerProtocol

extension WorkerFailure {
    /// A filter made a system call that the confinement forbids. `filter` is nil if the caller is unknown.
    init(filter: String?, tried call: RefusedCall) {
        let who = filter.map { "the filter '\($0)'" } ?? "the picture, or a filter of its chain,"
        self.init(
            stage: Self.confinement, message: "\(who) tried \(call)",
            advice:
                "a worker has the files that the daemon opens for it, and nothing else; leave the filter out, or mend it",
            filter: filter)
    }
}
