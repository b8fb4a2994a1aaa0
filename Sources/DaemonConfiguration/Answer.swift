import Dispatch
import Synchronization
package import WorkerPools
package import WorkerProtocol

/// The first worker's report that it has started, or why it could not start. The daemon's own start blocks until this
/// report arrives.
package final class Answer: Sendable {
    package typealias Trial = Result<(hello: Hello, accept: @Sendable (Bool) -> Void), WorkerStartError>

    private let trial = Mutex<Trial?>(nil)
    private let arrived = DispatchSemaphore(value: 0)

    package init() {}

    package func give(_ result: Trial) {
        trial.withLock { $0 = result }
        arrived.signal()
    }

    package func wait() -> Trial {
        while true {
            arrived.wait()
            if let trial = trial.withLock({ $0 }) { return trial }
        }
    }
}
