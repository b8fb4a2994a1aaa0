import WorkerConfinement
import WorkerProtocol

extension WorkerFailure {
    /// A filter has made a call that is forbidden to workers; nil stands for an unknown caller.
    init(filter: String?, tried call: RefusedCall) {
        let who = filter.map { "the filter '\($0)'" } ?? "the picture, or a filter of its chain,"
        self.init(
            stage: Self.confinement, message: "\(who) tried \(call)",
            advice:
                "a worker has the files that the daemon opens for it, and nothing else; leave the filter out, or mend it",
            filter: filter)
    }
}
