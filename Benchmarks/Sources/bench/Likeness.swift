import Foundation

/// How similar the results of fast decoding are to the results of libvips' plain path: the lowest PSNR of the
/// photographs, in dB. A chain that names a resize kernel takes the plain path.
struct Likeness {
    /// The similarity of luma alone, at half size. `full` is the same at full size.
    var half: Figure?
    var full: Figure?
    /// The similarity of all colours, fitted to a width of 1600.
    var colours: Figure?

    init(_ set: PictureSet, _ setup: Setup) throws {
        // Without contrast, noir is just luma. PNG loses nothing, and JPEG at quality 100 loses little.
        let (luma, colours) = ("noir contrast=0 | save format=png", "save format=jpeg quality=100")
        half = try Self.least(set, "scale=0.5", "scale=0.5 kernel=lanczos3", luma, setup)
        full = try Self.least(set, "scale=1", "scale=1 kernel=nearest", luma, setup)
        self.colours = try Self.least(set, "width=1600", "width=1600 kernel=lanczos3", colours, setup)
    }

    private static func least(
        _ set: PictureSet, _ size: String, _ plain: String, _ rest: String, _ setup: Setup
    ) throws -> Figure? {
        let daemons = try [size, plain].enumerated().map { number, size in
            try Daemon(
                setup.programs, root: "\(setup.work)/likeness-\(set.name)-\(number)",
                recipe: "[Output]\nChain=resize \(size) | \(rest)\n")
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
