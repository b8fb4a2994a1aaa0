import SystemCalls
import WorkerProtocol

/// The fleet's process, seen from the supervisor.
final class FleetProcess: WorkerProcess<FleetMessage>, StartedWorker {
    var isReady = false
    /// It has been asked for a sign of life.
    var owesAnswer = false
    /// It ends because it is told to.
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
