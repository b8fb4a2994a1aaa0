import Foundation

/// Runs the requested measurements, and prints the results.
struct Bench {
    var options: Options
    private var setup: Setup { options.setup }
    private var rounds: Int { options.rounds }

    private var jobs: [Job] {
        Job.all.filter { options.asks(for: $0.name) }.map { job in
            guard options.quick else { return job }
            var job = job
            guard job.name != Job.burst.name else { return job }
            job.count = job.name == "small" ? 1000 : max(2, job.count / (job.name == Job.halfNoir.name ? 2 : 3))
            return job
        }.filter { !options.quick || !$0.name.hasSuffix(Job.large) }
    }

    func run() throws {
        defer {
            Progress.end()
            Folder.remove(setup.work)
        }
        if let count = options.queue {
            try setup.prepare([.tiny, .small])
            guard try Queue(setup: setup, count: count).run() else { throw BenchError("a goal is missed") }
            return
        }
        if options.fleet {
            try setup.prepare([.jpeg12, .small])
            let report = try Fleet(setup: setup, rounds: rounds, isQuick: options.quick).run()
            print(report.text)
            if !options.quick { try report.write(to: options.docs) }
            return
        }
        try setup.prepare(jobs.map(\.pictures) + (options.other == nil ? [.jpeg12, .webp12, .jpeg128, .tiny] : []))
        if let other = options.other {
            try Comparison(setup: setup, rounds: rounds, jobs: jobs, other: other).run()
            return
        }
        let results = try races()
        let singles = try self.singles()
        Progress.end()
        let report = Report(results: results, singles: singles, machine: try Machine(setup), rounds: rounds)
        print(report.text)
        if let json = options.json { try Folder.write(report.json, to: json) }
        if options.isWhole { try report.write(to: options.docs) }
    }

    private func races() throws -> [JobResult] {
        let contests = jobs.map { (job: $0, contenders: contenders(for: $0)) }
        let steps = contests.flatMap(\.contenders).reduce(0) { $0 + rounds + ($1.stays ? 1 : 0) }
        let race = Race(setup: setup, rounds: rounds, progress: Progress(total: steps))
        return try contests.map { try race.run($0.job, $0.contenders) }
    }

    /// A quick run omits contenders that start new processes for each picture: no goal compares pipelined with them.
    private func contenders(for job: Job) -> [any Contender] {
        Race.contenders(for: job, setup).filter { !options.quick || $0.stays }
    }

    private func singles() throws -> Singles {
        var singles = Singles()
        let rounds = options.quick ? 1 : self.rounds
        if asks(for: "one-file") { singles.oneFile = try OneFile(files: options.quick ? 10 : 20, setup) }
        if asks(for: "memory") {
            singles.worker12 = try Singles.workerPeak(.jpeg12, count: 8, rounds: rounds, setup)
            singles.worker128 = try Singles.workerPeak(.jpeg128, count: 1, rounds: rounds, setup)
        }
        if asks(for: "idle") {
            singles.idle = try Idle(starts: options.quick ? 3 : 5, seconds: options.quick ? 0 : 30, setup)
        }
        if !options.quick, asks(for: "queued") {
            singles.queued = Figure(try Waiting.Kind.allCases.map { try Waiting($0, count: 100_000, setup).peak })
        }
        if !options.quick, asks(for: "likeness") {
            singles.likenessOfJPEG = try Likeness(.jpeg12, setup)
            singles.likenessOfWebP = try Likeness(.webp12, setup)
        }
        return singles
    }

    private func asks(for name: String) -> Bool {
        guard options.asks(for: name) else { return false }
        Progress.begin(name)
        return true
    }
}
