/// The style of a piece of text, if the output has colour.
enum Style: Sendable {
    case plain, strong, faint, good, bad, busy, halted

    var code: String? {
        switch self {
        case .plain: nil
        case .strong: "1"
        case .faint: "2"
        case .good: "32"
        case .bad: "31"
        case .busy: "36"
        case .halted: "33"
        }
    }

    /// The same state has the same colour everywhere.
    static func state(_ state: String) -> Style {
        switch state {
        case "done", "finished": .good
        case "failed": .bad
        case "running", "executing": .busy
        case "cancelling", "cancelled": .halted
        default: .plain
        }
    }
}

enum ColorChoice: String, CaseIterable {
    case auto, always, never
}
