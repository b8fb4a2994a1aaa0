import Foundation
import Glibc

/// Milliseconds from one file's rename into the inbox to its result's rename into the outbox, on an idle machine.
struct OneFile {
    var published: Figure?
    /// The render time, from handing the picture to a worker until the result is written, as reported by
    /// `pipectl show`.
    var render: Figure?
    /// The total time of the daemon's fsyncs between the two renames. This process measures it by repeating the fsyncs
    /// on the same file system.
    var syncs: Figure?
    /// The floor's time for the same picture.
    var floor: Figure?
    /// (published − syncs) ÷ render
    var ratio: Figure?

    init(files: Int, _ setup: Setup) throws {
        let daemon = try Daemon(setup.programs, root: "\(setup.work)/one-file", recipe: Job.halfNoir.recipe)
        defer { daemon.stop() }
        let floor = try ChildProcess([setup.floor, "noir"])
        defer { floor.finish() }
        let pictures = Job.halfNoir.pictures.files(files + Self.warmUp, in: setup.pictures)
        try floor.say(pictures.first ?? "")
        _ = try floor.hear()
        try daemon.prepare(pictures)
        var (published, renders, syncs, floors): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        for (index, name) in Folder.names(in: "\(daemon.root)/prepared").enumerated() {
            let time = try Self.way(of: name, in: daemon)
            guard index >= Self.warmUp else { continue }
            published.append(time)
            renders.append(try Self.render(of: index + 1, in: daemon))
            syncs.append(try Self.syncs(in: daemon.root, like: "\(daemon.root)/outbox/bench/\(name)"))
            let begun = Clock.now
            try floor.say(setup.work)
            _ = try floor.hear()
            floors.append((Clock.now - begun) * 1000)
        }
        (self.published, render, self.syncs, self.floor) = (
            Figure(published), Figure(renders), Figure(syncs), Figure(floors)
        )
        ratio = Figure(published.indices.map { (published[$0] - syncs[$0]) / renders[$0] })
    }

    private static let warmUp = 4

    private static func way(of name: String, in daemon: Daemon) throws -> Double {
        let results = try Arrivals(in: "\(daemon.root)/outbox/bench")
        let originals = try Arrivals(in: "\(daemon.root)/archive/bench")
        let begun = Clock.now
        try Folder.move("\(daemon.root)/prepared/\(name)", to: "\(daemon.root)/inbox/bench/\(name)")
        try results.wait(for: 1)
        let time = (Clock.now - begun) * 1000
        try originals.wait(for: 1)
        // Work after the last rename must not delay the next file.
        usleep(200_000)
        return time
    }

    private static func render(of job: Int, in daemon: Daemon) throws -> Double {
        let told = try daemon.pipectl("show", String(job), "--json")
        let story = try JSONSerialization.jsonObject(with: Data(told.utf8)) as? [String: Any]
        let operations = story?["operations"] as? [[String: Any]] ?? []
        let dates = ISO8601DateFormatter()
        dates.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        guard let render = operations.first(where: { $0["kind"] as? String == "render" }),
            let begun = (render["started"] as? String).flatMap(dates.date(from:)),
            let ended = (render["finished"] as? String).flatMap(dates.date(from:))
        else { throw BenchError("`pipectl show \(job)` tells nothing of its render: \(told)") }
        return ended.timeIntervalSince(begun) * 1000
    }

    /// Repeats the daemon's fsyncs, and returns their total time. The daemon syncs the claim's folder, the ledger with
    /// the job's row, the result, the result's folder, and the ledger with the intent. The fsync that records `running`
    /// is left out, because it is concurrent with the render.
    private static func syncs(in root: String, like result: String) throws -> Double {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: result))
        let (log, file, claimed) = ("\(root)/sync.log", "\(root)/sync.jpg", "\(root)/claimed")
        defer { unlink(file) }
        // A new folder, like a claim's.
        mkdir(claimed, 0o755)
        defer { rmdir(claimed) }
        let ledger = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        let made = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        let folder = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let claims = open(claimed, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { for descriptor in [ledger, made, folder, claims] { close(descriptor) } }
        let page = [UInt8](repeating: 7, count: 8192)
        bytes.withUnsafeBytes { _ = write(made, $0.baseAddress, $0.count) }
        let begun = Clock.now
        fsync(claims)
        _ = write(ledger, page, page.count)
        fdatasync(ledger)
        fsync(made)
        fsync(folder)
        _ = write(ledger, page, page.count)
        fdatasync(ledger)
        return (Clock.now - begun) * 1000
    }

    var table: Table {
        let figures = [
            ("rename to published", published), ("of that the render", render), ("of that fsyncs", syncs),
            ("the floor, for the same picture", floor),
        ]
        return Table(header: ["one file, 12 megapixels", "ms"], rows: figures.map { [$0.0, $0.1?.text ?? "–"] })
    }
}
