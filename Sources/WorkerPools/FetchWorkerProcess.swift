import SystemCalls
import WorkerProtocol

/// The supervisor's side of the fetch worker's process.
final class FetchWorkerProcess: WorkerProcess<FetchMessage>, StartedWorker {
    var isReady = false
    /// Whether the worker gets no new transfers, and exits when its current transfers are finished.
    var isLeaving = false
    var tasks: [Int: FetchTask] = [:]
    /// Number of transfers started in this worker.
    var begun = 0
    private let names: [FileStatus.Identity?]
    private weak var pool: FetchPool?

    init(program: String, pool: FetchPool) throws {
        self.pool = pool
        names = Self.namesNow()
        try super.init(program: program, arguments: [])
    }

    override func received(_ message: FetchMessage, _: [Descriptor]) { pool?.received(message, from: self) }

    override func ended(_ end: WorkerEnd) { pool?.ended(self, end) }

    override func leave() {
        isLeaving = true
        super.leave()
    }

    /// Whether the resolver's files have been replaced since the worker started. The worker's sandbox allows only the
    /// files that existed at its start.
    var isOutdated: Bool { names != Self.namesNow() }

    private static func namesNow() -> [FileStatus.Identity?] {
        ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"].map { path in
            guard var there = try? FileSystem.status(FileSystem.resolved(path))?.identity else { return nil }
            // Ignores size and modification time: the worker can read new content of the same file.
            (there.size, there.modified) = (0, 0)
            return there
        }
    }
}
