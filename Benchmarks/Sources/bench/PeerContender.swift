/// A library in long-lived processes, one per processor. Each process gets an equal share of the pictures.
final class PeerContender: Contender {
    let name: String
    let stays = true
    private let words: (Setup, Job) -> [String]
    private var processes: [ChildProcess] = []
    private var folder = ""
    private var count = 0

    init(_ name: String, _ words: @escaping (Setup, Job) -> [String]) {
        (self.name, self.words) = (name, words)
    }

    /// Uses one of the libraries that peer.py supports.
    init(_ name: String, library: String) {
        self.name = name
        words = { setup, job in [setup.python, "\(setup.peers)/peer.py", library, job.work, setup.table, job.suffix] }
    }

    /// Returns the contender `floor`: the codecs alone, in a program written by hand for one job.
    static func floor(_ task: String) -> PeerContender { PeerContender("floor") { setup, _ in [setup.floor, task] } }

    func begin(_ job: Job, in folder: String, _ setup: Setup) throws {
        // The job of small files is large so that pipelined must queue them. Fewer files give a peer the same figures.
        (self.folder, count) = (folder, min(job.count, 2000))
        let files = job.pictures.files(count, in: setup.pictures)
        for number in 0..<Setup.processors {
            let process = try ChildProcess(words(setup, job), ["VIPS_CONCURRENCY": "1"])
            processes.append(process)
            let share = files.indices.filter { $0 % Setup.processors == number }.map { files[$0] }
            try process.say(share.joined(separator: "\t"))
            guard try process.hear() == "ready" else { throw BenchError("\(name) does not get ready") }
        }
    }

    func round() throws -> Sample {
        let places = processes.indices.map { "\(folder)/\($0)" }
        for place in places { try Folder.make(place) }
        let tree = ProcessTree(ids: processes.map(\.id))
        let (before, begun) = (tree.cpu, Clock.now)
        for (process, place) in zip(processes, places) { try process.say(place) }
        for process in processes { _ = try process.hear() }
        let sample = Sample(pictures: count, cpu: tree.cpu - before, wall: Clock.now - begun, memory: tree.peak)
        Folder.putAside(folder, in: "\(folder)-aside")
        return sample
    }

    func end() {
        for process in processes { process.finish() }
        processes = []
    }
}
