import DaemonConfiguration
import DaemonRuntime
import PictureFiles
import PipelineModel
import WorkerPools

/// Renders pictures that are no jobs, for people who look for a chain. One proof at a time is in work: the jobs keep the
/// processors.
@Coordination
final class Proofs {
    private let pool: WorkerPool
    private let configuration: ConfigurationInForce
    /// The first is in work.
    private var proofs: [Proof] = []

    init(_ pool: WorkerPool, _ configuration: ConfigurationInForce) {
        (self.pool, self.configuration) = (pool, configuration)
    }

    /// Tries the wish when those before it are over. Returns a proof that may be cancelled.
    func begin(_ wish: Proof.Wish, done: @escaping @Coordination @Sendable (Proof.Outcome) -> Void) -> Proof {
        let proof = Proof(
            wish, pool, spool: configuration.places.spool, settings: configuration.settings
        ) { [self] proof, outcome in
            proofs.removeAll { $0 === proof }
            done(outcome)
            proofs.first?.begin()
        }
        proofs.append(proof)
        if proofs.count == 1 { proof.begin() }
        return proof
    }
}
