package import PipelineModel
package import WorkerProtocol

/// The terms on which another node may render a picture.
package struct Lending: Sendable {
    let priority: Priority
    let bytes: LentBytes
    /// The only node that may render the picture, whatever the settings say; nil if any node may.
    let only: String?
    /// Called with nil when the picture is lent, which frees its local slot. Called with a node's name when that node
    /// starts to render the picture, and with nil again if the node gives it up.
    let lent: @Sendable (_ node: String?) -> Void
    /// Called before the task completes, with the file that the node downloaded.
    let downloaded: @Sendable (FetchedFile) -> Void

    package init(
        priority: Priority, bytes: LentBytes, only: String? = nil, lent: @escaping @Sendable (_ node: String?) -> Void,
        downloaded: @escaping @Sendable (FetchedFile) -> Void
    ) {
        (self.priority, self.bytes, self.only) = (priority, bytes, only)
        (self.lent, self.downloaded) = (lent, downloaded)
    }

    /// Whether only another node may render the picture. True if this node does not download the picture, or if
    /// `pipectl fleet check` lends the picture to test a node.
    var isRemoteDownload: Bool { if case .url = bytes { true } else { only != nil } }
}

/// Estimates the processor time that both nodes need to transfer a picture. The estimate adapts to the measured
/// processor time of the fleet process.
struct LendingPrice {
    private var factor = 1.0
    /// Measured (`used`) and estimated (`guessed`) time since the latest update of the factor.
    private var used = Duration.zero
    private var guessed = Duration.zero
    private var last: (at: ContinuousClock.Instant, used: Duration)?

    /// Estimated time that must accumulate before the factor is updated.
    private static let enough = Duration.milliseconds(100)
    /// Maximum time between two pictures for a valid measurement. After a longer pause, the processor time also
    /// includes other work of the process.
    private static let pause = Duration.seconds(2)

    func of(_ bytes: LentBytes) -> Duration { Self.guess(bytes) * factor }

    /// The initial estimate. It was measured over TLS, with results as large as the originals.
    private static func guess(_ bytes: LentBytes) -> Duration {
        .milliseconds(3) + .nanoseconds(9 * bytes.sizes.reduce(0, +))
    }

    /// Records a transferred picture. `process` is the processor time that the fleet process has used in total.
    mutating func moved(_ bytes: LentBytes, by process: Duration?, now: ContinuousClock.Instant = .now) {
        guard let process else { return }
        defer { last = (now, process) }
        guard let last, now - last.at < Self.pause, process > last.used else { return }
        used += process - last.used
        // The estimate covers both nodes, but the fleet process does only the work of this node.
        guessed += Self.guess(bytes) / 2
        guard guessed >= Self.enough else { return }
        factor = min(16, max(0.25, (factor * 3 + used / guessed) / 4))
        (used, guessed) = (.zero, .zero)
    }
}

/// Average processor time to render a picture, by its outputs. Unlike elapsed time, processor time does not depend on
/// the machine's load.
struct RenderPace {
    private static let most = 64
    private var latest: [[RenderOutput]: Duration] = [:]

    /// The expected processor time. Nil if no picture with these outputs has been rendered recently.
    func expected(_ outputs: [RenderOutput]) -> Duration? { latest[outputs] }

    /// Updates the moving average.
    mutating func take(_ time: Duration, for outputs: [RenderOutput]) {
        if let before = latest[outputs] {
            latest[outputs] = (before * 7 + time) / 8
        } else {
            if latest.count >= Self.most { latest = [:] }
            latest[outputs] = time
        }
    }
}
