import Foundation

/// The supervisor's cost for each job. First, small pictures pass through the whole graph. Then `count` files are
/// queued, listed and cancelled, and some are retried. The same is then done with as many URLs. Each part has its own
/// daemon.
struct Queue {
    var setup: Setup
    var count: Int

    private static let mostThrough = 10_000

    /// Returns false when a goal is missed.
    func run() throws -> Bool {
        let through = max(1, min(Self.mostThrough, count / 10))
        for set in [PictureSet.tiny, .small] {
            Progress.begin("\(through) files through the whole graph")
            Self.print(try rows(through, of: set))
        }
        var goals: [Goal] = []
        for kind in Waiting.Kind.allCases {
            let retried = min(count, Waiting.mostRetried)
            for number in Set([count, retried]).sorted() {
                Progress.begin("\(number) \(kind) that wait")
                let waiting = try Waiting(kind, count: number, setup, retries: number == retried)
                Self.print(waiting.rows)
                goals += waiting.goals
            }
        }
        Progress.end()
        Swift.print("\n\(Goal.table(goals).text)")
        return goals.allSatisfy { $0.holds != false }
    }

    private func rows(_ number: Int, of set: PictureSet) throws -> [[String]] {
        var job = Job.smallFiles
        (job.pictures, job.count) = (set, number)
        let contender = DaemonContender("pipelined", setup.programs)
        defer { contender.end() }
        try contender.begin(job, in: "\(setup.work)/\(set.name)", setup)
        let sample = try contender.round()
        return [
            ["\(number) files of \(try bytes(of: set)) bytes, through the whole graph", ""],
            ["  time for each job", "\(Text.fixed(sample.wall * 1e6 / Double(number), 0)) µs"],
            ["  supervisor's CPU for each job", "\(Text.fixed(sample.supervisor * 1e6 / Double(number), 0)) µs"],
            ["  supervisor's memory, peak", "\(Text.fixed(contender.supervisorPeak / 1_048_576, 0)) MB"],
        ]
    }

    private func bytes(of set: PictureSet) throws -> Int {
        let files = set.files(set.count, in: setup.pictures)
        return try files.reduce(0) { $0 + (try Data(contentsOf: URL(fileURLWithPath: $1)).count) } / files.count
    }

    private static func print(_ rows: [[String]]) {
        for row in rows {
            let space = String(repeating: " ", count: max(1, 73 - row[0].count - row[1].count))
            Swift.print(row[1].isEmpty ? row[0] : row[0] + space + row[1])
        }
    }
}
