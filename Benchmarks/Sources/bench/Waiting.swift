import Foundation
import Glibc

/// What so many jobs cost the supervisor that wait, because their queue is paused, and what it takes to cancel them all.
struct Waiting {
    enum Kind: String, CaseIterable {
        case files
        /// One list: everything that is in it becomes durable together.
        case URLs
    }

    var kind: Kind
    var count: Int
    /// Megabytes.
    var idle = 0.0
    var peak = 0.0
    /// For each: microseconds.
    var time = 0.0
    var cpu = 0.0
    /// The slowest `pipectl status` while they are taken in, and with all of them there, and `cancel-all`: milliseconds.
    var busyStatus = 0.0
    var settledStatus = 0.0
    var cancelling = 0.0

    init(_ kind: Kind, count: Int, _ setup: Setup) throws {
        (self.kind, self.count) = (kind, count)
        let daemon = try Daemon(setup.programs, root: "\(setup.work)/waiting-\(kind)", recipe: Job.halfNoir.recipe)
        defer { daemon.stop() }
        _ = try daemon.pipectl("pause", kind == .files ? "render" : "download", "--reason", "bench")
        try prepare(in: daemon, setup)
        idle = memory(daemon, "VmRSS")
        let (used, begun) = (ProcessTree.cpu(daemon.supervisor), Clock.now)
        try Folder.move("\(daemon.root)/prepared", to: "\(daemon.root)/inbox/bench/dropped")
        while try daemon.jobs("waiting") < count || !isTaken(daemon) {
            busyStatus = max(busyStatus, try daemon.slowestStatus())
        }
        time = (Clock.now - begun) * 1e6 / Double(count)
        cpu = (ProcessTree.cpu(daemon.supervisor) - used) * 1e6 / Double(count)
        settledStatus = try daemon.slowestStatus()
        let asked = Clock.now
        _ = try daemon.pipectl("cancel-all")
        cancelling = (Clock.now - asked) * 1000
        peak = memory(daemon, "VmHWM")
    }

    private func prepare(in daemon: Daemon, _ setup: Setup) throws {
        switch kind {
        case .files:
            let picture = try Data(contentsOf: URL(fileURLWithPath: PictureSet.tiny.files(1, in: setup.pictures)[0]))
            for number in 0..<count {
                try picture.write(to: URL(fileURLWithPath: "\(daemon.root)/prepared/\(Text.padded(number, 6)).jpg"))
            }
        case .URLs:
            let lines = (0..<count).map {
                "https://pictures.example.com/2026/a-longer-name-than-most-\(Text.padded($0, 6)).jpg\n"
            }
            try Folder.write(lines.joined(), to: "\(daemon.root)/prepared/list.urls")
        }
        Folder.settle()
    }

    /// Files are claimed one by one; a list goes to the archive when all that is in it is durable.
    private func isTaken(_ daemon: Daemon) -> Bool {
        switch kind {
        case .files: Folder.names(in: "\(daemon.root)/inbox/bench/dropped").isEmpty
        case .URLs: Folder.names(in: "\(daemon.root)/archive/bench/dropped").count == 1
        }
    }

    private func memory(_ daemon: Daemon, _ name: String) -> Double {
        Double(ProcessTree.memory(daemon.supervisor, name)) / 1_048_576
    }

    var rows: [[String]] {
        [
            ["\(count) \(kind) queued", ""],
            ["  supervisor's memory, idle", "\(Text.fixed(idle, 0)) MB"],
            ["  supervisor's memory, peak (limit: 150 MB)", "\(Text.fixed(peak, 0)) MB"],
            ["    for each, beyond idle", "\(Text.fixed((peak - idle) * 1_048_576 / Double(count), 0)) B"],
            ["  taking all in: time for each", "\(Text.fixed(time, 0)) µs"],
            ["  taking all in: supervisor's CPU for each", "\(Text.fixed(cpu, 0)) µs"],
            ["  pipectl status, slowest answer while taking in", "\(Text.fixed(busyStatus, 0)) ms"],
            ["  pipectl status, slowest answer with all queued", "\(Text.fixed(settledStatus, 0)) ms"],
            ["  pipectl cancel-all (limit: 2000 ms)", "\(Text.fixed(cancelling, 0)) ms"],
        ]
    }
}

extension Daemon {
    func jobs(_ state: String) throws -> Int {
        let told = try pipectl("status", "--json")
        let overview = try JSONSerialization.jsonObject(with: Data(told.utf8)) as? [String: Any]
        return (overview?["jobs"] as? [String: Int])?[state] ?? 0
    }

    /// Of some answers to `pipectl status`, in milliseconds, the process's own start included.
    func slowestStatus() throws -> Double {
        try (0..<20).map { _ in
            let begun = Clock.now
            _ = try pipectl("status", "--json")
            return (Clock.now - begun) * 1000
        }.max() ?? 0
    }
}
