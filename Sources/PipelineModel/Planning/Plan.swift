/// The plan of a job: the pictures that it makes, and the operations that make them.
public struct Plan: Sendable, Hashable {
    /// The pictures of each segment. A segment is the part of the chains between two barriers.
    public let segments: [[PlannedPicture]]

    public var pictures: [PlannedPicture] { segments.flatMap(\.self).sorted { $0.index < $1.index } }
    /// The published pictures, in the order of `pictures`.
    public var results: [PlannedPicture] { pictures.filter(\.isResult) }

    /// The operations in dependency order.
    public var operations: [PlannedOperation] {
        let renders = segments.map { $0.isEmpty ? [] : [PlannedOperation.render($0)] }
        return renders.joined(separator: [.announceBatch]) + [.publish, .announce]
    }
}
