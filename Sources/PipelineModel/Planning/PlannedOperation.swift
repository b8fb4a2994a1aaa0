/// An operation that a job needs.
public enum PlannedOperation: Sendable, Hashable {
    /// Source picture to all results, in one worker.
    case render(outputs: [RecipeOutput])
    case publish
    case announce

    /// The class that carries it out.
    public var kind: String {
        switch self {
        case .render: "RenderOperation"
        case .publish: "PublishOperation"
        case .announce: "AnnounceOperation"
        }
    }

    /// The queue it goes through.
    public var queue: String {
        switch self {
        case .render: "render"
        case .publish: "publish"
        case .announce: "announce"
        }
    }

    /// What it does, in one line.
    public var does: String {
        switch self {
        case .render(let outputs):
            outputs.count == 1
                ? "decode, \(outputs.map(\.steps).joined())"
                : "decode once per output; "
                    + outputs.map { ($0.name.map { "\($0): " } ?? "") + $0.steps }.joined(separator: "; ")
        case .publish: "put the results into the outbox, all or none; then see to the original"
        case .announce: "append to the event log"
        }
    }
}

extension RecipeOutput {
    /// The names of its stages: "resize, noir, encode jpeg".
    fileprivate var steps: String {
        (chain.stages.dropLast().map(\.name) + ["encode \(chain.format)"]).joined(separator: ", ")
    }
}
