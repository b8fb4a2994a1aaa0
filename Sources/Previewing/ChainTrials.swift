package import DaemonConfiguration
package import DaemonInterface
package import DaemonRuntime
import PictureFiles
import PipelineModel
package import WorkerPools

/// Renders trials of chains for people who are designing a chain; a trial creates no job. Only one trial runs at a
/// time, so that jobs keep most of the processors.
@Coordination
package final class ChainTrials {
    private let pool: WorkerPool
    private let configuration: ConfigurationInForce
    /// The queued trials. The first trial is running.
    private var trials: [ChainTrial] = []

    package init(_ pool: WorkerPool, _ configuration: ConfigurationInForce) {
        (self.pool, self.configuration) = (pool, configuration)
    }

    /// Queues a trial, which runs after all earlier trials. The returned trial can be cancelled.
    package func begin(_ wish: TrialWish, done: @escaping Done<TrialOutcome>)
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
