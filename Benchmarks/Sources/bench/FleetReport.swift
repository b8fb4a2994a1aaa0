import Foundation

/// A fleet's gain and cost, for the terminal and for a section of docs/benchmarks.md.
struct FleetReport {
    var growth: JobResult
    var costs: [JobResult]
    var choices: [JobResult]
    var rounds: Int

    static let (home, lent) = ("at home", "lent")
    static func nodes(_ count: Int) -> String { count == 1 ? "one node" : "\(count) nodes" }

    private var goals: [Goal] {
        let (one, three) = (growth[Self.nodes(1)], growth[Self.nodes(3)])
        let pace = one.flatMap { three?.ratio(to: $0, \.rate) }
        let first = Goal(
            text: "three nodes of four places, a filter that waits: pictures a second", limit: .atLeast(2.85),
            unit: "× one node", reached: pace)
        return [first]
            + choices.map { choice in
                let ratio = choice["never"].flatMap { choice["auto"]?.ratio(to: $0) { $0.wall } }
                return Goal(
                    text: "\(choice.job.title): time, Give=auto", limit: .atMost(1.05), unit: "× Give=never",
                    reached: ratio)
            }
    }

    private var costTable: Table {
        Table(
            header: [
                "", "CPU ms a picture at home", "lent", "lent − at home", "lent ÷ at home",
                "MB to the server a picture",
            ],
            rows: costs.compactMap { result in
                guard let home = result[Self.home], let lent = result[Self.lent] else { return nil }
                let more = Figure(zip(home.samples, lent.samples).map { $1.cpuEach - $0.cpuEach })
                let figures = [
                    home.figure(\.cpuEach), lent.figure(\.cpuEach), more, lent.ratio(to: home, \.cpuEach),
                    lent.figure { $0.wire / Double($0.pictures) / 1e6 },
                ]
                return [result.job.title] + figures.map { $0?.text ?? "–" }
            })
    }

    private var paceTable: Table {
        let rows = ([growth] + choices).flatMap { result in
            result.series.map { one in
                [
                    "\(result.job.title): \(["auto", "never"].contains(one.name) ? "Give=" : "")\(one.name)",
                    "\(result.job.count)", one.figure(\.rate)?.text ?? "–", one.figure(\.cpuEach)?.text ?? "–",
                ]
            }
        }
        return Table(header: ["", "pictures", "pictures/s", "CPU ms a picture"], rows: rows)
    }

    var text: String { [Goal.table(goals), costTable, paceTable].map(\.text).joined(separator: "\n") }

    // MARK: - The page

    private static let head = "## A fleet\n"

    /// Returns the page's present section on fleets. A run that writes the other sections keeps it.
    static func section(in docs: String) -> String {
        let page = (try? String(contentsOfFile: "\(docs)/benchmarks.md", encoding: .utf8)) ?? ""
        return page.range(of: head).map { String(page[$0.lowerBound...]) } ?? ""
    }

    func write(to docs: String) throws {
        let path = "\(docs)/benchmarks.md"
        let page = try String(contentsOfFile: path, encoding: .utf8)
        let end = page.range(of: Self.head)?.lowerBound ?? page.endIndex
        let before = page[..<end].trimmingCharacters(in: .newlines)
        try Folder.write("\(before)\n\n\(section)", to: path)
    }

    private var section: String {
        """
        \(Self.head)
        `./run bench fleet` writes this section. Two or three daemons, each with a root of its own, and one NATS server
        share the machine of the other figures. The fleet is made by `pipectl fleet init` and `join`: lines are TLS.
        Pictures are dropped at the first node. Contenders take turns; a figure is the median of \(rounds) rounds, with
        the least and the most.

        \(Goal.table(goals).markdown)
        The filter that waits sleeps a second for each picture. It stands in for the processors that three machines
        have: this machine's processors work for all nodes. The time runs from the drop until the last picture is
        published and its original is archived.

        Lending a picture costs the processors of the origin, the other node and the server this much together. The
        origin's only place is taken here, so that each picture is lent. The server sends on as many bytes as it
        receives.

        \(costTable.markdown)
        Two nodes of four places get the same pictures with `Give=auto` and with `Give=never`. Two nodes on one machine
        have no more processors than one node. The time of `Give=auto` shows what its decisions cost.

        \(paceTable.markdown)
        """
    }
}
