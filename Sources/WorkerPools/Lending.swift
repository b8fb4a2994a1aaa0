package import PipelineModel
import WorkerProtocol

/// What lets a picture be rendered by another node.
package struct Lending: Sendable {
    let priority: Priority
    /// The bytes of each source.
    let sizes: [Int64]
    /// Called when the picture is with the fleet, with the node that works on it once that is known. Its place here is free.
    let lent: @Sendable (_ node: String?) -> Void

    package init(priority: Priority, sizes: [Int64], lent: @escaping @Sendable (_ node: String?) -> Void) {
        (self.priority, self.sizes, self.lent) = (priority, sizes, lent)
    }

    /// The time that processors spend on moving the picture, on both sides: it was measured over TLS, with a result as long
    /// as the picture.
    var cost: Duration { .milliseconds(3) + .nanoseconds(9) * sizes.reduce(0, +) }
}

extension Duration {
    fileprivate static func * (left: Duration, right: Int64) -> Duration { left * Int(right) }
}

/// How long pictures take here, by what is made of them.
struct RenderPace {
    private static let most = 64
    private var latest: [[RenderOutput]: Duration] = [:]

    /// Nil before one has been rendered.
    func expected(_ outputs: [RenderOutput]) -> Duration? { latest[outputs] }

    /// A picture took so long; older ones count less and less.
    mutating func take(_ time: Duration, for outputs: [RenderOutput]) {
        if let before = latest[outputs] {
            latest[outputs] = (before * 7 + time) / 8
        } else {
            if latest.count >= Self.most { latest = [:] }
            latest[outputs] = time
        }
    }
}
