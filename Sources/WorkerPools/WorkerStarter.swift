import DaemonRuntime
import Dispatch
import Glibc

/// A process that a pool has started.
@Coordination
protocol StartedWorker: AnyObject {
    /// It has said hello.
    var isReady: Bool { get }
    func leave()
    func terminate()
    func endIfStopped()
}

/// Starts the processes of a pool, and keeps them until their end. After a failed start the pool tries again; the pause
/// before that grows, so that a worker that can't start does not keep the machine busy.
@Coordination
final class WorkerStarter<Worker: StartedWorker> {
    private(set) var workers: [Worker] = []
    /// Workers that are not confined in every way get no work.
    var mustBeConfined = false
    /// The next attempt to start a worker has to wait.
    private(set) var isPausing = false
    private(set) var isStopped = false
    /// Called when that pause is over.
    var again: () -> Void = {}
    private let name: String
    private let pause: Duration
    private var failures = 0
    private var emptied: (@Sendable () -> Void)?
    private let children: any DispatchSourceSignal

    /// `name` begins the log's lines about a worker. The first pause lasts `pause`.
    init(_ name: String, pause: Duration = .seconds(1)) {
        (self.name, self.pause) = (name, pause)
        // The kernel sends SIGCHLD when a worker has been stopped, too.
        children = DispatchSource.makeSignalSource(signal: SIGCHLD, queue: Coordination.queue)
        children.setEventHandler { [weak self] in
            Coordination.assumeIsolated { self?.workers.forEach { $0.endIfStopped() } }
        }
        children.activate()
    }

    /// The reason why workers don't start, after some attempts.
    var problem: String? { failures > 2 ? "\(name) ends at its start (\(failures) in a row); see the log" : nil }

    /// Starts a worker, which has so long to say hello. Nil when there can be no process.
    func start(within limit: Duration, _ make: () throws -> Worker) -> Worker? {
        do {
            let worker = try make()
            workers.append(worker)
            Coordination.after(limit) { [weak worker] in
                if let worker, !worker.isReady { worker.terminate() }
            }
            return worker
        } catch {
            failed("can't be started: \(error)")
            return nil
        }
    }

    /// Whether a worker that says hello may get work. `missing` is what its confinement lacks.
    func admits(_ worker: Worker, missing: [String]) -> Bool {
        guard mustBeConfined, !missing.isEmpty else { return true }
        worker.leave()
        failed("is not confined, which Sandbox=required asks for: \(missing.joined(separator: ", "))")
        return false
    }

    /// A worker was of no use, for this reason.
    func failed(_ reason: String) {
        Log.failure("\(name) \(reason)")
        failed()
    }

    func failed() {
        failures += 1
        guard !isPausing else { return }
        isPausing = true
        Coordination.after(pause * min(30, failures)) { [self] in
            isPausing = false
            again()
        }
    }

    /// A worker has done something.
    func succeeded() { failures = 0 }

    /// Called by the pool once it is done with a worker whose process has ended.
    func forget(_ worker: Worker) {
        workers.removeAll { $0 === worker }
        if isStopped, workers.isEmpty { emptied?() }
    }

    /// Starts no more; `done` when the last worker is gone.
    func stop(_ done: @escaping @Sendable () -> Void) {
        isStopped = true
        emptied = done
        if workers.isEmpty { done() }
    }
}
