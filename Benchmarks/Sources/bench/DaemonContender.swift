import Glibc

/// pipelined as a whole: from the drop into the inbox until the results are published and the originals archived,
/// including fsyncs and ledger.
final class DaemonContender: Contender {
    let name: String
    let stays = true
    private let programs: String
    /// The job whose recipe replaces the recipe of the race's job.
    private let other: Job?
    private var daemon: Daemon?
    private var results = 0

    init(_ name: String, _ programs: String, of other: Job? = nil) {
        (self.name, self.programs, self.other) = (name, programs, other)
    }

    /// In bytes.
    var supervisorPeak: Double { daemon.map { Double(ProcessTree.memory($0.supervisor, "VmHWM")) } ?? 0 }

    func begin(_ job: Job, in folder: String, _ setup: Setup) throws {
        let daemon = try Daemon(programs, root: folder, recipe: (other ?? job).recipe)
        self.daemon = daemon
        results = job.outputs.count
        try daemon.prepare(job.pictures.files(job.count, in: setup.pictures))
    }

    func round() throws -> Sample {
        guard let daemon else { throw BenchError("\(name) was not begun") }
        let count = Folder.names(in: "\(daemon.root)/prepared").count
        let (before, supervisorBefore) = (daemon.tree.cpu, ProcessTree.cpu(daemon.supervisor))
        let wall = try daemon.work()
        // Count the work that the daemon does after the last picture, too.
        usleep(100_000)
        let tree = daemon.tree
        let sample = Sample(
            pictures: count, cpu: tree.cpu - before, supervisor: ProcessTree.cpu(daemon.supervisor) - supervisorBefore,
            wall: wall, memory: tree.peak)
        try daemon.clear(results: count * results)
        Folder.settle()
        return sample
    }

    func end() {
        daemon?.stop()
        daemon = nil
    }
}
