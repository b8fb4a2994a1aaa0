/// What a job makes, and the operations that make it.
public struct Plan: Sendable, Hashable {
    /// The pictures of each segment; barriers are between the segments.
    public let segments: [[PlannedPicture]]

    public var pictures: [PlannedPicture] { segments.flatMap(\.self).sorted { $0.index < $1.index } }
    /// All that is published, in that order.
    public var results: [PlannedPicture] { pictures.filter(\.isResult) }

    /// In the order of their dependencies.
    public var operations: [PlannedOperation] {
        let renders = segments.map { $0.isEmpty ? [] : [PlannedOperation.render($0)] }
        return renders.joined(separator: [.announceBatch]) + [.publish, .announce]
    }
}
