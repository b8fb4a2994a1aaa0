import WorkerConfinement
import WorkerProtocol

extension WorkerFailure {
    /// `who` tried what a worker may not.
    init(who: String, tried call: RefusedCall) {
        self.init(
            stage: Self.confinement, message: "\(who) tried \(call)",
            advice:
                "a worker has the files that the daemon opens for it, and nothing else; leave the filter out, or mend it"
        )
    }
}
