/// A goal for pipelined, and the figure that pipelined has reached.
struct Goal {
    enum Limit {
        case atMost(Double)
        case atLeast(Double)
    }

    var text: String
    var limit: Limit
    /// The text after the numbers: `ms`, `MB`, or `×` and a contender's name.
    var unit: String
    var reached: Figure?
    /// The reason why pipelined can't reach the goal.
    var hindrance: String?

    var holds: Bool? {
        reached.map { figure in
            switch limit {
            case .atMost(let most): figure.median <= most
            case .atLeast(let least): figure.median >= least
            }
        }
    }

    var row: [String] {
        let wanted =
            switch limit {
            case .atMost(let most): "≤ \(Text.plain(most)) \(unit)"
            case .atLeast(let least): "≥ \(Text.plain(least)) \(unit)"
            }
        return [text, wanted, reached?.text ?? "not measured", holds.map { $0 ? "yes" : "NO" } ?? "–"]
    }

    static func table(_ goals: [Goal]) -> Table {
        Table(header: ["goal", "wanted", "reached", "holds"], rows: goals.map(\.row))
    }
}
