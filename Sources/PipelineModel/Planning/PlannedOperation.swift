public enum PlannedOperation: Sendable, Hashable {
    case download
    /// One worker makes all pictures of a segment in a single render.
    case render([PlannedPicture])
    case publish
    /// Announces, once, that all pictures of a batch have reached a barrier.
    case announceBatch
    case announce

    /// The operation's kind, in words for users.
    public var kind: String { self == .announceBatch ? "announce batch" : queue }

    public var queue: String {
        switch self {
        case .download: "download"
        case .render: "render"
        case .publish: "publish"
        case .announceBatch, .announce: "announce"
        }
    }

    /// A one-line description of the operation, for `explain`.
    public func does(_ catalog: StageCatalog) -> String {
        switch self {
        case .render(let pictures):
            pictures.count == 1
                ? "decode, \(pictures.map { $0.steps(catalog) }.joined())"
                : "decode for all; " + pictures.map { $0.steps(catalog) }.joined(separator: "; ")
        case .download: "fetch the URL into a file"
        case .publish: "put the results into the outbox, all or none; then handle the original"
        case .announceBatch: "once all jobs of the batch are here: log this event, then continue the jobs"
        case .announce: "log that the results are published"
        }
    }
}
