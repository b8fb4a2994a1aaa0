/// How transient failures are retried: with increasing delays, a limited number of times.
public struct RetrySettings: Sendable, Hashable {
    public var tries = 5
    public var delay = Duration.seconds(5)
    public var most = Duration.seconds(3600)

    public init() {}

    static let table: [Setting<RetrySettings>] = [
        Setting(
            "Daemon", "Retries", \.tries, .count(0...100),
            "how often a job is retried after a passing failure, such as a broken connection, before it fails"),
        Setting(
            "Daemon", "RetryDelay", \.delay, .duration(.milliseconds(100) ... .seconds(86400)),
            "the pause before the first retry; it doubles each time, less a random part of up to a quarter"),
        Setting(
            "Daemon", "RetryMost", \.most, .duration(.milliseconds(100) ... .seconds(86400)),
            "the longest pause between two tries, even if a server asks for a longer one"),
    ]

    /// The pause before retry `number`, which counts from 1. `asked` is the pause that a server requested. `chance`, a
    /// random number from 0 to 1, varies the pause, so that jobs that failed together don't all retry at the same
    /// moment.
    public func pause(before number: Int, asked: Duration? = nil, chance: Double) -> Duration {
        if let asked { return min(asked + asked / 10 * chance, most) }
        // Limits the exponent to prevent overflow: at 30, every pause has reached `most`.
        let doubled = delay * (1 << min(max(number - 1, 0), 30))
        return min(doubled, most) * (1 - chance / 4)
    }
}
