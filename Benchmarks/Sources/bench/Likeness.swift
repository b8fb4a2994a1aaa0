import Foundation

/// How near luma by the fast ways is to luma by libvips' plain way, on photographs: the least of all pictures, in dB. A kernel that is named
/// has every pixel pass through it.
struct Likeness {
    var half: Figure?
    var full: Figure?

    init(_ set: PictureSet, _ setup: Setup) throws {
        half = try Self.least(set, "scale=0.5", plain: "scale=0.5 kernel=lanczos3", setup)
        full = try Self.least(set, "scale=1", plain: "scale=1 kernel=nearest", setup)
    }

    private static func least(
        _ set: PictureSet, _ size: String, plain: String, _ setup: Setup
    ) throws -> Figure? {
        let daemons = try [size, plain].enumerated().map { number, size in
            try Daemon(
                setup.programs, root: "\(setup.work)/likeness-\(set.name)-\(number)",
                // Without contrast it is luma, and no more.
                recipe: "[Output]\nChain=resize \(size) | noir contrast=0 | save format=png\n")
        }
        defer { for daemon in daemons { daemon.stop() } }
        for daemon in daemons {
            try daemon.prepare(set.files(set.count, in: setup.pictures))
            _ = try daemon.work()
        }
        let told = try ChildProcess.output(
            [setup.python, "\(setup.peers)/likeness.py"] + daemons.map { "\($0.root)/outbox/bench" })
        let all = told.split(separator: "\n").compactMap { Double($0) }
        guard all.count == set.count, let least = all.min() else {
            throw BenchError("\(all.count) of \(set.count) pictures were compared")
        }
        return Figure([least])
    }
}
