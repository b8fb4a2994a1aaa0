package import DaemonConfiguration
package import DaemonRuntime
import PictureFiles
import PipelineModel
package import WorkerPools

/// Renders pictures that are no jobs, for people who look for a chain. Only one trial is in work at a time, so that the
/// jobs keep the processors.
@Coordination
package final class ChainTrials {
    private let pool: WorkerPool
    private let configuration: ConfigurationInForce
    /// The first is in work.
    private var trials: [ChainTrial] = []

    package init(_ pool: WorkerPool, _ configuration: ConfigurationInForce) {
        (self.pool, self.configuration) = (pool, configuration)
    }

    /// Tries the wish after the earlier wishes. Returns a trial that can be cancelled.
    package func begin(_ wish: ChainTrial.Wish, done: @escaping @Coordination @Sendable (ChainTrial.Outcome) -> Void)
        -> ChainTrial
    {
        let proof = ChainTrial(
            wish, pool, spool: configuration.places.spool, settings: configuration.settings
        ) { [self] proof, outcome in
            trials.removeAll { $0 === proof }
            done(outcome)
            trials.first?.begin()
        }
        trials.append(proof)
        if trials.count == 1 { proof.begin() }
        return proof
    }
}
