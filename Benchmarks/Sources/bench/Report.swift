import Foundation

/// All results, for the terminal, for the page, and for programs.
struct Report {
    var results: [JobResult]
    var singles: Singles
    var machine: Machine
    var rounds: Int

    private var goals: [Goal] { Goals.all(results, singles) }

    var text: String {
        let jobs = results.map { "\($0.job.title)\n\n\($0.table.text)" }
        let parts = jobs + [singles.oneFile?.table.text, Goal.table(goals).text].compactMap { $0 }
        return machine.lines.joined(separator: "\n") + "\n\n" + parts.joined(separator: "\n")
    }

    func write(to docs: String) throws {
        let page = Page(report: self, goals: goals, fleet: FleetReport.section(in: docs))
        try Folder.write(page.text, to: "\(docs)/benchmarks.md")
        try Folder.write(page.tables, to: "\(docs)/benchmark-tables.md")
        try Folder.write(Chart(results: results).text, to: "\(docs)/pictures/benchmarks.svg")
    }

    /// A JSON object with every round of every contender for every job.
    var json: String {
        func rounds(_ series: Series) -> [[String: Double]] {
            series.samples.map {
                [
                    "cpu_ms": $0.cpuEach, "pictures_per_second": $0.rate, "peak_mb": $0.megabytes,
                    "supervisor_ms": $0.supervisor * 1000 / Double($0.pictures),
                ]
            }
        }
        let jobs = results.map { result in
            (result.job.name, Dictionary(uniqueKeysWithValues: result.series.map { ($0.name, rounds($0)) }))
        }
        let all: [String: Any] = [
            "machine": machine.lines, "jobs": Dictionary(uniqueKeysWithValues: jobs),
            "goals": goals.map { goal -> [String: Any] in
                [
                    "goal": goal.text, "wanted": goal.row[1], "reached": goal.reached?.median ?? NSNull(),
                    "holds": goal.holds ?? NSNull(),
                ]
            },
        ]
        let data = try? JSONSerialization.data(withJSONObject: all, options: [.prettyPrinted, .sortedKeys])
        return String(decoding: data ?? Data(), as: UTF8.self) + "\n"
    }
}
