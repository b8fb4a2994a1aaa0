import SystemCalls
import WorkerProtocol

/// The supervisor's side of the fleet process.
final class FleetProcess: WorkerProcess<FleetMessage>, StartedWorker {
    var isReady = false
    /// Whether the process has not answered the latest ping yet.
    var owesAnswer = false
    /// Whether the supervisor has asked the process to exit, so that the exit is not a failure.
    private(set) var isLeaving = false
    private weak var pool: FleetPool?

    init(program: String, pool: FleetPool) throws {
        self.pool = pool
        try super.init(program: program, arguments: [])
    }

    override func received(_ message: FleetMessage, _: [Descriptor]) { pool?.received(message, from: self) }

    override func leave() {
        isLeaving = true
        super.leave()
    }

    override func ended(_ end: WorkerEnd) { pool?.ended(self, end) }
}
