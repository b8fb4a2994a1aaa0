/// Compares this pipelined with another revision.
struct Comparison {
    var setup: Setup
    var rounds: Int
    var jobs: [Job]
    var other: (name: String, programs: String)

    /// The limit for the median ratio. If it is exceeded and every round was slower, the slowdown is not chance.
    private static let worse = 1.05

    func run() throws {
        let progress = Progress(total: jobs.count * 2 * (rounds + 1))
        let race = Race(setup: setup, rounds: rounds, progress: progress)
        let results = try jobs.map { job in
            try race.run(
                job, [DaemonContender("here", setup.programs), DaemonContender(other.name, other.programs)])
        }
        Progress.end()
        print(table(results).text)
    }

    private func table(_ results: [JobResult]) -> Table {
        Table(
            header: ["here ÷ \(other.name)", "CPU", "time", "peak memory", ""],
            rows: results.map { result in
                guard let here = result["here"], let base = result[other.name] else { return [] }
                let ratios: [Figure?] = [
                    here.ratio(to: base, \.cpuEach), here.ratio(to: base) { $0.wall },
                    here.ratio(to: base, \.megabytes),
                ]
                let words = zip(["CPU", "time", "memory"], ratios).filter { Self.isWorse($1) }.map(\.0)
                return [result.job.title] + ratios.map { $0?.text ?? "–" }
                    + [words.isEmpty ? "" : "WORSE: \(words.joined(separator: ", "))"]
            })
    }

    private static func isWorse(_ ratio: Figure?) -> Bool {
        ratio.map { $0.median > worse && $0.least > 1 } ?? false
    }
}
