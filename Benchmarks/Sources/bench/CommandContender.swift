import Glibc

/// A command-line tool. Each picture gets new processes, and as many pictures are processed at a time as there are
/// processors.
final class CommandContender: Contender {
    /// The commands for one picture, which run one after the other.
    typealias Commands = (_ job: Job, _ source: String, _ result: String, _ setup: Setup) -> [[String]]

    let name: String
    let stays = false
    private let commands: Commands
    private var lines: [[[String]]] = []
    private var (folder, usage) = ("", "")

    /// One thread per process, because other processes run beside it.
    private static let environment = [
        "VIPS_CONCURRENCY": "1", "MAGICK_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1",
    ]

    init(_ name: String, _ commands: @escaping Commands) {
        (self.name, self.commands) = (name, commands)
    }

    func begin(_ job: Job, in folder: String, _ setup: Setup) throws {
        (self.folder, usage) = (folder, setup.usage)
        lines = job.pictures.files(job.countOfCommands, in: setup.pictures).enumerated().map {
            commands(job, $1, "\(folder)/\($0)", setup)
        }
    }

    func round() throws -> Sample {
        try Folder.make(folder)
        var sample = Sample(pictures: lines.count, cpu: 0, wall: 0, memory: 0)
        let begun = Clock.now
        var waiting = lines[...]
        var running: [pid_t: (process: ChildProcess, rest: ArraySlice<[String]>)] = [:]
        func start(_ commands: ArraySlice<[String]>) throws {
            guard let words = commands.first else { return }
            let process = try ChildProcess([usage, "\(folder)/log"] + words, Self.environment)
            running[process.id] = (process, commands.dropFirst())
        }
        while !waiting.isEmpty || !running.isEmpty {
            while running.count < Setup.processors, let next = waiting.popFirst() { try start(next[...]) }
            let (id, succeeded) = try ChildProcess.next()
            guard let ended = running.removeValue(forKey: id), succeeded else {
                throw BenchError("\(name) has failed:\n\(Folder.end(of: "\(folder)/log"))")
            }
            let took = try ended.process.hear().split(separator: " ").compactMap { Int($0) }
            sample.cpu += Double(took[0]) / 1e6
            sample.memory = max(sample.memory, took[1] * 1024)
            try start(ended.rest)
        }
        sample.wall = Clock.now - begun
        sample.memory *= min(Setup.processors, lines.count)
        Folder.putAside(folder, in: "\(folder)-aside")
        return sample
    }

    func end() {}
}

extension CommandContender {
    /// Uses vipsthumbnail for the size, and vips for luma and table, as a script would.
    static var vips: CommandContender {
        CommandContender("vipsthumbnail + vips") { job, source, result, setup in
            job.outputs.enumerated().flatMap { index, output -> [[String]] in
                let (width, height) = output.pixels(of: job.pictures)
                let (size, made) = ("\(width)x\(height)!", "\(result).\(index).\(job.suffix)[Q=85]")
                guard output.filter == "noir" else { return [["vipsthumbnail", source, "--size", size, "-o", made]] }
                return [
                    ["vipsthumbnail", source, "--size", size, "-o", "\(result).small.v"],
                    ["vips", "recomb", "\(result).small.v", "\(result).luma.v", setup.luma],
                    ["vips", "maplut", "\(result).luma.v", made, setup.table],
                ]
            }
        }
    }

    static func imageMagick(hint: Bool) -> CommandContender {
        CommandContender(hint ? "ImageMagick, size hint" : "ImageMagick") { job, source, result, setup in
            let noir = ["-grayscale", "Rec601Luma", setup.table, "-clut"]
            return [
                ["convert"] + (hint ? ["-define", "jpeg:size=\(largest(job))"] : []) + [source]
                    + results(job, result, noir)
            ]
        }
    }

    /// Returns a contender for GraphicsMagick, which has no tables; `-level` is as cheap as a table.
    static func graphicsMagick(hint: Bool) -> CommandContender {
        CommandContender(hint ? "GraphicsMagick, size hint" : "GraphicsMagick") { job, source, result, setup in
            let noir = ["-colorspace", "Gray", "-level", "8%,1.0,92%"]
            return [["gm", "convert"] + (hint ? ["-size", largest(job)] : []) + [source] + results(job, result, noir)]
        }
    }

    private static func largest(_ job: Job) -> String {
        let (width, height) = job.outputs.map { $0.pixels(of: job.pictures) }.max { $0.width < $1.width } ?? (0, 0)
        return "\(width)x\(height)"
    }

    /// Makes the largest result first, and each further result from the previous one, which is cheapest.
    private static func results(_ job: Job, _ result: String, _ noir: [String]) -> [String] {
        job.outputs.enumerated().flatMap { index, output -> [String] in
            let (width, height) = output.pixels(of: job.pictures)
            let made = "\(result).\(index).\(job.suffix)"
            return ["-resize", "\(width)x\(height)!"] + (output.filter == "noir" ? noir : []) + ["-quality", "85"]
                + (index == job.outputs.count - 1 ? [made] : ["-write", made])
        }
    }
}
