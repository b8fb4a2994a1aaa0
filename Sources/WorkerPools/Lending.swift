package import PipelineModel
package import WorkerProtocol

/// What lets a picture be rendered by another node.
package struct Lending: Sendable {
    let priority: Priority
    let bytes: LentBytes
    /// Called when the picture is with the fleet, with the node that works on it once that is known. Its place here is free.
    let lent: @Sendable (_ node: String?) -> Void
    /// Called with what the node has downloaded, before the picture is done.
    let downloaded: @Sendable (FetchedFile) -> Void

    package init(
        priority: Priority, bytes: LentBytes, lent: @escaping @Sendable (_ node: String?) -> Void,
        downloaded: @escaping @Sendable (FetchedFile) -> Void
    ) {
        (self.priority, self.bytes, self.lent, self.downloaded) = (priority, bytes, lent, downloaded)
    }

    /// Nobody here has the picture: it is lent, or not rendered at all.
    var isElsewhere: Bool { if case .url = bytes { true } else { false } }

    /// The time that processors spend on moving a picture, on both sides: it was measured over TLS, with a result as long
    /// as the picture.
    static func cost(of bytes: LentBytes) -> Duration { .milliseconds(3) + .nanoseconds(9) * bytes.sizes.reduce(0, +) }
}

extension Duration {
    fileprivate static func * (left: Duration, right: Int64) -> Duration { left * Int(right) }
}

/// How long pictures take here, by what is made of them, if each has a processor.
struct RenderPace {
    private static let most = 64
    private var latest: [[RenderOutput]: Duration] = [:]

    /// Nil before one has been rendered.
    func expected(_ outputs: [RenderOutput]) -> Duration? { latest[outputs] }

    /// A picture took so long, beside others; older ones count less and less. More workers than processors share them: a
    /// picture that waits for its turn costs no more for that.
    mutating func take(_ time: Duration, workers: Int, processors: Int, for outputs: [RenderOutput]) {
        let time = time * processors / max(processors, workers)
        if let before = latest[outputs] {
            latest[outputs] = (before * 7 + time) / 8
        } else {
            if latest.count >= Self.most { latest = [:] }
            latest[outputs] = time
        }
    }
}
