import WorkerConfinement
import WorkerProtocol

extension WorkerFailure {
    /// `who`, perhaps from a plugin's file, tried what a worker may not.
    init(who: String, of file: String? = nil, tried call: RefusedCall) {
        self.init(
            stage: Self.confinement, message: "\(who) tried \(call)",
            advice: "a worker has the files that the daemon opens for it, and nothing else; leave the filter out, or mend it"
                + (file.map { " (\($0))" } ?? ""))
    }
}
