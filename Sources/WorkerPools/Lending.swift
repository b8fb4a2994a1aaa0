package import PipelineModel
package import WorkerProtocol

/// What lets a picture be rendered by another node.
package struct Lending: Sendable {
    let priority: Priority
    let bytes: LentBytes
    /// No other node is asked, whatever the settings allow; nil: every node may be.
    let only: String?
    /// Called when the picture is with the fleet, with the node that works on it once that is known. Its place here is free.
    let lent: @Sendable (_ node: String?) -> Void
    /// Called with what the node has downloaded, before the picture is done.
    let downloaded: @Sendable (FetchedFile) -> Void

    package init(
        priority: Priority, bytes: LentBytes, only: String? = nil, lent: @escaping @Sendable (_ node: String?) -> Void,
        downloaded: @escaping @Sendable (FetchedFile) -> Void
    ) {
        (self.priority, self.bytes, self.only) = (priority, bytes, only)
        (self.lent, self.downloaded) = (lent, downloaded)
    }

    /// It is lent, or not rendered at all: nobody here has the picture, or a node is tried with it.
    var isElsewhere: Bool { if case .url = bytes { true } else { only != nil } }
}

/// What moving a picture takes of the processors of both sides. It begins with a guess, and learns from what the fleet's process
/// uses.
struct LendingPrice {
    private var factor = 1.0
    /// What was used for the latest pictures, and what was guessed.
    private var used = Duration.zero
    private var guessed = Duration.zero
    private var last: (at: ContinuousClock.Instant, used: Duration)?

    /// So much is looked at together.
    private static let enough = Duration.milliseconds(100)
    /// After a longer pause the process has used something for other things.
    private static let pause = Duration.seconds(2)

    func of(_ bytes: LentBytes) -> Duration { Self.guess(bytes) * factor }

    /// It was measured over TLS, with a result as long as the picture.
    private static func guess(_ bytes: LentBytes) -> Duration {
        .milliseconds(3) + .nanoseconds(9 * bytes.sizes.reduce(0, +))
    }

    /// A picture has been moved, by a process that has used so much so far.
    mutating func moved(_ bytes: LentBytes, by process: Duration?, now: ContinuousClock.Instant = .now) {
        guard let process else { return }
        defer { last = (now, process) }
        guard let last, now - last.at < Self.pause, process > last.used else { return }
        used += process - last.used
        // One of two sides.
        guessed += Self.guess(bytes) / 2
        guard guessed >= Self.enough else { return }
        factor = min(16, max(0.25, (factor * 3 + used / guessed) / 4))
        (used, guessed) = (.zero, .zero)
    }
}

/// The processor time that pictures take here, by what is made of them. What else the machine does makes no difference to it.
struct RenderPace {
    private static let most = 64
    private var latest: [[RenderOutput]: Duration] = [:]

    /// Nil before one has been rendered.
    func expected(_ outputs: [RenderOutput]) -> Duration? { latest[outputs] }

    /// A picture took so much; older ones count less and less.
    mutating func take(_ time: Duration, for outputs: [RenderOutput]) {
        if let before = latest[outputs] {
            latest[outputs] = (before * 7 + time) / 8
        } else {
            if latest.count >= Self.most { latest = [:] }
            latest[outputs] = time
        }
    }
}
