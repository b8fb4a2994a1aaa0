/// The pictures that a job makes, and the operations that make them.
public struct Plan: Sendable, Hashable {
    /// The pictures of each segment. Barriers lie between segments.
    public let segments: [[PlannedPicture]]

    public var pictures: [PlannedPicture] { segments.flatMap(\.self).sorted { $0.index < $1.index } }
    /// The published pictures, in that order.
    public var results: [PlannedPicture] { pictures.filter(\.isResult) }

    /// The operations in the order of their dependencies.
    public var operations: [PlannedOperation] {
        let renders = segments.map { $0.isEmpty ? [] : [PlannedOperation.render($0)] }
        return renders.joined(separator: [.announceBatch]) + [.publish, .announce]
    }
}
