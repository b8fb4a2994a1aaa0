import SystemCalls
import WorkerProtocol

/// The supervisor's side of the fetch worker's process.
final class FetchWorkerProcess: WorkerProcess<FetchMessage>, StartedWorker {
    var isReady = false
    /// Finishes its transfers and gets no new ones.
    var isLeaving = false
    var tasks: [Int: FetchTask] = [:]
    /// Number of transfers started.
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

    /// Whether the resolver's files have been replaced since its start. The worker may read only the files that existed
    /// then.
    var isOutdated: Bool { names != Self.namesNow() }

    private static func namesNow() -> [FileStatus.Identity?] {
        ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf"].map { path in
            guard var there = try? FileSystem.status(FileSystem.resolved(path))?.identity else { return nil }
            // Only the file's identity counts: the worker can read new content of the same file.
            (there.size, there.modified) = (0, 0)
            return there
        }
    }
}
