import SystemCalls
import WorkerProtocol

/// The fetch worker's process, seen from the supervisor.
final class FetchWorkerProcess: WorkerProcess<FetchMessage>, StartedWorker {
    var isReady = false
    /// It finishes the transfers that it has, and gets no more.
    var isLeaving = false
    var tasks: [Int: FetchTask] = [:]
    /// The number of transfers it has been given.
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

    /// The resolver's files have been replaced. A worker may read only those that were there at its start.
    var isOutdated: Bool { names != Self.namesNow() }

    private static func namesNow() -> [FileStatus.Identity?] {
        ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"].map { path in
            guard var there = try? FileSystem.status(FileSystem.resolved(path))?.identity else { return nil }
            // New content of the same file may be read.
            (there.size, there.modified) = (0, 0)
            return there
        }
    }
}
