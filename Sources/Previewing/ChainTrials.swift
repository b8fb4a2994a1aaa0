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
        let trial = ChainTrial(
            wish, pool, spool: configuration.places.spool, settings: configuration.settings
        ) { [self] trial, outcome in
            trials.removeAll { $0 === trial }
            done(outcome)
            trials.first?.begin()
        }
        trials.append(trial)
        if trials.count == 1 { trial.begin() }
        return trial
    }
}
