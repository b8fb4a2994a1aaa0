import Foundation
import Glibc

/// The supervisor's cost for jobs that wait in a paused queue, and the time to change all of them.
struct Waiting {
    enum Kind: String, CaseIterable {
        case files
        /// The URLs arrive in lists. All URLs of a list become durable together.
        case URLs
    }

    var kind: Kind
    var count: Int
    /// Memory in megabytes. `idle` is the memory before the first job. `peak` is the higher peak of two daemons: the
    /// daemon that took in the jobs, and the daemon that was restarted with them.
    var idle = 0.0
    var peak = 0.0
    /// Microseconds per job.
    var time = 0.0
    var cpu = 0.0
    /// Milliseconds of the slowest `pipectl status`, during and after intake.
    var busyStatus = 0.0
    var settledStatus = 0.0
    /// Milliseconds of the slowest first answer of `pipectl list`.
    var list = 0.0
    /// Milliseconds to start with all jobs in the ledger, and milliseconds of `cancel-all`.
    var start = 0.0
    var cancelling = 0.0
    /// Milliseconds of `retry --cancelled` for all jobs. It is measured only up to `mostRetried` jobs.
    var retrying: Double?
    static let mostRetried = 200_000

    init(_ kind: Kind, count: Int, _ setup: Setup, retries: Bool = false) throws {
        (self.kind, self.count) = (kind, count)
        let daemon = try Daemon(
            setup.programs, root: "\(setup.work)/waiting-\(kind)-\(count)", recipe: Job.halfNoir.recipe)
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
        list = try [[], ["--waiting"], ["--limit", "100"]].map { try daemon.firstOfList($0) }.max() ?? 0
        peak = memory(daemon, "VmHWM")
        try daemon.restart()
        start = daemon.startTime * 1000
        cancelling = try Self.milliseconds { _ = try daemon.pipectl("cancel-all") }
        if retries {
            while !isMovedAway(daemon) { usleep(100_000) }
            retrying = try Self.milliseconds { _ = try daemon.pipectl("retry", "--cancelled") }
        }
        settledStatus = max(settledStatus, try daemon.slowestStatus())
        peak = max(peak, memory(daemon, "VmHWM"))
    }

    private static func milliseconds(_ work: () throws -> Void) rethrows -> Double {
        let begun = Clock.now
        try work()
        return (Clock.now - begun) * 1000
    }

    private func prepare(in daemon: Daemon, _ setup: Setup) throws {
        switch kind {
        case .files:
            let picture = try Data(contentsOf: URL(fileURLWithPath: PictureSet.tiny.files(1, in: setup.pictures)[0]))
            for number in 0..<count {
                try picture.write(to: URL(fileURLWithPath: "\(daemon.root)/prepared/\(Text.padded(number, 7)).jpg"))
            }
        case .URLs:
            for first in firstOfLists {
                let lines = (first..<min(count, first + Self.longestList)).map {
                    "https://pictures.example.com/2026/a-longer-name-than-most-\(Text.padded($0, 7)).jpg\n"
                }
                try Folder.write(lines.joined(), to: "\(daemon.root)/prepared/\(Text.padded(first, 7)).urls")
            }
        }
        Folder.settle()
    }

    private static let longestList = 100_000
    private var firstOfLists: StrideTo<Int> { stride(from: 0, to: count, by: Self.longestList) }

    /// Returns whether intake is complete. Files are claimed one by one; a list moves to the archive when all its URLs
    /// are durable.
    private func isTaken(_ daemon: Daemon) -> Bool {
        switch kind {
        case .files: Folder.names(in: "\(daemon.root)/inbox/bench/dropped").isEmpty
        case .URLs: Folder.names(in: "\(daemon.root)/archive/bench/dropped").count == Array(firstOfLists).count
        }
    }

    /// Returns whether the originals of cancelled jobs were moved, which the daemon does after its answer. Jobs of URLs
    /// have no originals yet.
    private func isMovedAway(_ daemon: Daemon) -> Bool {
        kind == .URLs || Folder.names(in: "\(daemon.root)/cancelled/bench/dropped").count == count
    }

    private func memory(_ daemon: Daemon, _ name: String) -> Double {
        Double(ProcessTree.memory(daemon.supervisor, name)) / 1_048_576
    }

    var rows: [[String]] {
        [
            ["\(count) \(kind) queued", ""],
            ["  supervisor's memory, idle", "\(Text.fixed(idle, 0)) MB"],
            ["    for each, beyond idle", "\(Text.fixed((peak - idle) * 1_048_576 / Double(count), 0)) B"],
            ["  taking all in: time for each", "\(Text.fixed(time, 0)) µs"],
            ["  taking all in: supervisor's CPU for each", "\(Text.fixed(cpu, 0)) µs"],
            ["  pipectl status, slowest answer while taking in", "\(Text.fixed(busyStatus, 0)) ms"],
        ]
    }

    var goals: [Goal] {
        let isLarge = count > 100_000
        func goal(_ text: String, _ most: Double, _ unit: String, _ reached: Double) -> Goal {
            Goal(text: "\(count) \(kind) queued: \(text)", limit: .atMost(most), unit: unit, reached: Figure([reached]))
        }
        let goals = [
            goal("supervisor's memory, peak", isLarge ? 250 : 150, "MB", peak),
            goal("pipectl status, slowest answer", 50, "ms", settledStatus),
            goal("pipectl list, slowest first page", 100, "ms", list),
            goal("start", 3000, "ms", start),
            goal("pipectl cancel-all", isLarge ? 10_000 : 2000, "ms", cancelling),
        ]
        return goals + (retrying.map { [goal("pipectl retry --cancelled", 8000, "ms", $0)] } ?? [])
    }
}

extension Daemon {
    func jobs(_ state: String) throws -> Int {
        let told = try pipectl("status", "--json")
        let overview = try JSONSerialization.jsonObject(with: Data(told.utf8)) as? [String: Any]
        return (overview?["jobs"] as? [String: Int])?[state] ?? 0
    }

    /// Milliseconds of the slowest of several `pipectl status` calls, including the start of pipectl.
    func slowestStatus() throws -> Double {
        try (0..<20).map { _ in
            let begun = Clock.now
            _ = try pipectl("status", "--json")
            return (Clock.now - begun) * 1000
        }.max() ?? 0
    }

    /// Milliseconds until `pipectl list` shows its first job, including the start of pipectl.
    func firstOfList(_ words: [String]) throws -> Double {
        let begun = Clock.now
        let list = try ChildProcess(["\(programs)/pipectl", "--root", root, "list", "--json"] + words)
        _ = try list.hear()
        defer { list.stop() }
        return (Clock.now - begun) * 1000
    }
}
