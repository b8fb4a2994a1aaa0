import Foundation
import Glibc

/// Measurements of pipelined alone.
struct Singles {
    var oneFile: OneFile?
    var idle: Idle?
    /// In megabytes.
    var worker12: Figure?
    var worker128: Figure?
    var queued: Figure?
    var likenessOfJPEG: Likeness?
    var likenessOfWebP: Likeness?

    static let names = ["one-file", "memory", "idle", "queued", "likeness"]

    /// Returns the highest memory peak of a worker that has rendered only pictures of this set, in megabytes.
    static func workerPeak(_ set: PictureSet, count: Int, rounds: Int, _ setup: Setup) throws -> Figure? {
        Figure(
            try (0..<rounds).map { round in
                let daemon = try Daemon(
                    setup.programs, root: "\(setup.work)/memory-\(set.name)-\(round)", recipe: Job.halfNoir.recipe)
                defer { daemon.stop() }
                try daemon.prepare(set.files(count, in: setup.pictures))
                _ = try daemon.work()
                return Double(daemon.workers.map { ProcessTree.memory($0, "VmHWM") }.max() ?? 0) / 1_048_576
            })
    }
}

/// An idle daemon.
struct Idle {
    /// Milliseconds from its start to READY.
    var ready: Figure?
    /// Processor time in milliseconds per minute.
    var cpu: Figure?
    /// In megabytes.
    var supervisor: Figure?
    var worker: Figure?

    /// Measures processor time for `seconds`, unless that is 0.
    init(starts: Int, seconds: Double, _ setup: Setup) throws {
        var times: [Double] = []
        for start in 0..<starts {
            let daemon = try Daemon(setup.programs, root: "\(setup.work)/idle-\(start)", recipe: Job.halfNoir.recipe)
            defer { daemon.stop() }
            times.append(daemon.startTime * 1000)
            guard start == starts - 1 else { continue }
            // Workers start after READY.
            usleep(2_000_000)
            if seconds > 0 {
                // By now, the checks that follow the start are over, and idle threads have ended.
                usleep(20_000_000)
                let before = daemon.tree.cpu
                usleep(UInt32(seconds * 1_000_000))
                cpu = Figure([(daemon.tree.cpu - before) * 1000 * 60 / seconds])
            }
            supervisor = Figure([Double(ProcessTree.memory(daemon.supervisor, "VmRSS")) / 1_048_576])
            worker = Figure(daemon.workers.map { Double(ProcessTree.memory($0, "VmRSS")) / 1_048_576 })
        }
        ready = Figure(times)
    }
}
