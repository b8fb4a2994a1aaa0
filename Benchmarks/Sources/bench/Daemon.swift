import Foundation
import Glibc

/// A pipelined daemon with a root of its own.
final class Daemon {
    let root: String
    let programs: String
    /// Seconds from the daemon's start until its log reports that it is ready. At the same time, the daemon notifies
    /// systemd, if systemd started it.
    private(set) var startTime: Double
    private var process: ChildProcess
    private let aside: String

    /// `files` are additional files, by their paths below the root.
    init(_ programs: String, root: String, recipe: String, files: [String: String] = [:], filters: [String] = []) throws
    {
        (self.root, self.programs, aside) = (root, programs, "\(root)-aside")
        for folder in ["etc/recipes.d", "inbox/bench", "outbox/bench", "archive/bench", "prepared"] {
            try Folder.make("\(root)/\(folder)")
        }
        try Folder.write("[Recipe]\nInbox=bench\n\n\(recipe)", to: "\(root)/etc/recipes.d/bench.recipe")
        try Folder.write(Self.look, to: "\(root)/etc/recipes.d/look.cube")
        for (path, text) in files { try Folder.write(text, to: "\(root)/\(path)") }
        for path in filters {
            try Folder.make("\(root)/plugins")
            try Folder.copy(path, to: "\(root)/plugins/\(path.split(separator: "/").last ?? "")")
        }
        (process, startTime) = try Self.start(programs, root)
    }

    /// The table for the filter `lut`, with 17 × 17 × 17 colours. peer.py uses the same table.
    private static let look: String = {
        let steps = (0..<17).map { Double($0) / 16 }
        let lines = steps.flatMap { blue in
            steps.flatMap { green in steps.map { red in "\(red * red) \((green + blue) / 2) \(1 - red * green)" } }
        }
        return "LUT_3D_SIZE 17\n\(lines.joined(separator: "\n"))\n"
    }()

    private static func start(_ programs: String, _ root: String) throws -> (ChildProcess, time: Double) {
        let begun = Clock.now
        let process = try ChildProcess(["\(programs)/pipelined", "--root", root], streams: .log("\(root)/log"))
        Running.add(process.id)
        while !isReady(root) {
            usleep(1000)
            guard Clock.now - begun < 60 else {
                process.stop()
                throw BenchError("\(programs)/pipelined did not get ready:\n\(Folder.end(of: "\(root)/log"))")
            }
        }
        return (process, Clock.now - begun)
    }

    /// Stops the daemon, and starts another on the same root.
    func restart() throws {
        process.stop()
        Running.remove(process.id)
        Folder.remove("\(root)/log")
        (process, startTime) = try Self.start(programs, root)
    }

    private static func isReady(_ root: String) -> Bool {
        let log = try? String(contentsOfFile: "\(root)/log", encoding: .utf8)
        return log?.contains(" is ready: ") == true
    }

    var supervisor: pid_t { process.id }
    var tree: ProcessTree { ProcessTree(of: process.id) }
    var workers: [pid_t] { tree.ids.filter { ProcessTree.name($0) == "pipelined-rende" } }

    /// Copies these pictures to the folder from which `work` takes them.
    func prepare(_ files: [String]) throws {
        for (index, file) in files.enumerated() {
            let suffix = file.split(separator: ".").last.map { ".\($0)" } ?? ""
            try Folder.copy(file, to: "\(root)/prepared/\(Text.padded(index, 5))\(suffix)")
        }
        Folder.settle()
    }

    /// Drops the prepared pictures, and waits until all originals are in the archive. An original gets there only after
    /// its results were published. Returns the elapsed seconds.
    func work() throws -> Double {
        let names = Folder.names(in: "\(root)/prepared")
        let arrivals = try Arrivals(in: "\(root)/archive/bench")
        let begun = Clock.now
        for name in names { try Folder.move("\(root)/prepared/\(name)", to: "\(root)/inbox/bench/\(name)") }
        do {
            try arrivals.wait(for: names.count)
        } catch {
            throw BenchError("\(error):\n\(Folder.end(of: "\(root)/log"))")
        }
        return Clock.now - begun
    }

    /// Removes the results, and moves the originals back for the next `work`.
    func clear(results: Int) throws {
        let made = Folder.names(in: "\(root)/outbox/bench")
        guard made.count == results else {
            throw BenchError("\(made.count) results instead of \(results) in \(root)/outbox")
        }
        for name in made { Folder.putAside("\(root)/outbox/bench/\(name)", in: aside) }
        for name in Folder.names(in: "\(root)/archive/bench") {
            try Folder.move("\(root)/archive/bench/\(name)", to: "\(root)/prepared/\(name)")
        }
    }

    func pipectl(_ words: String...) throws -> String {
        try ChildProcess.output(["\(programs)/pipectl", "--root", root] + words)
    }

    func stop() {
        process.stop()
        Running.remove(process.id)
        Folder.putAside(root, in: aside)
    }
}
