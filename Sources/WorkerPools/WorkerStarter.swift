import DaemonRuntime
import Dispatch
import Glibc
import ServiceProgram

/// A worker process started by a pool.
@Coordination
protocol StartedWorker: AnyObject {
    /// Whether the worker has sent `hello`.
    var isReady: Bool { get }
    func leave()
    func terminate()
    func endIfStopped()
}

/// Starts a pool's workers, and tracks them until their processes end. After a failed start, the pool waits before it
/// retries. The wait grows with each failure, so that endless restarts don't keep the machine busy.
@Coordination
final class WorkerStarter<Worker: StartedWorker> {
    private(set) var workers: [Worker] = []
    /// Whether only fully confined workers get work.
    var mustBeConfined = false
    /// Whether a pause after a failure is in progress, during which no worker may be started.
    private(set) var isPausing = false
    private(set) var isStopped = false
    /// Called when the pause after a failure is over.
    var again: () -> Void = {}
    private let name: String
    private let pause: Duration
    private var failures = 0
    private var emptied: (@Sendable () -> Void)?
    private let children: any DispatchSourceSignal

    /// `name` prefixes the log messages about a worker. `pause` is the length of the pause after the first failure.
    init(_ name: String, pause: Duration = .seconds(1)) {
        (self.name, self.pause) = (name, pause)
        // Checks for stopped workers on SIGCHLD, which the kernel also sends when a worker is stopped.
        children = DispatchSource.makeSignalSource(signal: SIGCHLD, queue: Coordination.queue)
        children.setEventHandler { [weak self] in
            Coordination.assumeIsolated { self?.workers.forEach { $0.endIfStopped() } }
        }
        children.activate()
    }

    /// Why workers don't start; set after three failures in a row.
    var problem: String? { failures > 2 ? "\(name) exits at its start (\(failures) times in a row); see the log" : nil }

    /// Starts a worker; kills it if it sends no `hello` within `limit`. Returns nil if the process can't be created.
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

    /// Whether a worker that has sent `hello` may get work. `missing` lists the missing parts of its confinement.
    func admits(_ worker: Worker, missing: [String]) -> Bool {
        guard mustBeConfined, !missing.isEmpty else { return true }
        worker.leave()
        failed("is not confined, which Sandbox=required asks for: \(missing.joined(separator: ", "))")
        return false
    }

    /// Logs and counts a worker's failure.
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

    /// Resets the failure count after a worker has done some work.
    func succeeded() { failures = 0 }

    /// Stops tracking a worker whose process has ended, after the pool has handled the end.
    func forget(_ worker: Worker) {
        workers.removeAll { $0 === worker }
        if isStopped, workers.isEmpty { emptied?() }
    }

    /// Prevents further starts; calls `done` when the last worker has ended.
    func stop(_ done: @escaping @Sendable () -> Void) {
        isStopped = true
        emptied = done
        if workers.isEmpty { done() }
    }
}
