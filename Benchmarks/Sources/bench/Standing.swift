/// Pipelined's rank by processor time for each job, with the supervisor's share of pipelined's time.
enum Standing {
    static func table(_ results: [JobResult]) -> Table {
        Table(
            header: ["job", "pipelined is", "next to it", "pipelined ÷ it", "the supervisor's part of its time"],
            rows: results.compactMap(row))
    }

    private static func row(_ result: JobResult) -> [String]? {
        guard let ours = result["pipelined"], let best = result.best(\.cpuEach),
            let ratio = ours.ratio(to: best, \.cpuEach), let own = ours.figure(\.cpuEach)
        else { return nil }
        let better = result.series.count {
            !["pipelined", "floor"].contains($0.name) && ($0.figure(\.cpuEach)?.median ?? .infinity) < own.median
        }
        let part = ours.figure { $0.supervisor / $0.cpu }.map { "\(Int(($0.median * 100).rounded())) %" } ?? "–"
        return [
            result.job.title, better == 0 ? "first" : "number \(better + 1)", best.name, Text.fixed(ratio.median, 2),
            part,
        ]
    }
}
