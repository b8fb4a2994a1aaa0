/// An operation that a job needs.
public enum PlannedOperation: Sendable, Hashable {
    /// Source picture to all pictures of a segment, in one worker.
    case render([PlannedPicture])
    case publish
    /// Of the batch, when all its pictures have arrived at a barrier.
    case announceBatch
    case announce

    /// The class that carries it out.
    public var kind: String {
        switch self {
        case .render: "RenderOperation"
        case .publish: "PublishOperation"
        case .announceBatch, .announce: "AnnounceOperation"
        }
    }

    /// The queue it goes through.
    public var queue: String {
        switch self {
        case .render: "render"
        case .publish: "publish"
        case .announceBatch, .announce: "announce"
        }
    }

    /// What it does, in one line.
    public var does: String {
        switch self {
        case .render(let pictures):
            pictures.count == 1
                ? "decode, \(pictures.map(\.steps).joined())"
                : "decode once per output; " + pictures.map(\.steps).joined(separator: "; ")
        case .publish: "put the results into the outbox, all or none; then see to the original"
        case .announceBatch: "once, when all of the batch are here: append that to the event log; then they go on"
        case .announce: "append to the event log"
        }
    }
}
