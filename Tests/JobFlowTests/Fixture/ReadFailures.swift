import JobLedger

/// A delegate that is told when a ledger can't be read.
final class ReadFailures: LedgerDelegate {
    let stream = AsyncStream<Void>.makeStream()
    private let more: @Sendable () -> Void

    init(_ more: @escaping @Sendable () -> Void = {}) { self.more = more }

    func readFailed() {
        stream.continuation.yield()
        more()
    }
}
