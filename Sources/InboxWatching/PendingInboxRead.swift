import Synchronization

/// A pending call to `Inbox.catchUp`.
final class PendingInboxRead: Sendable {
    private let chosen: SettlingChoice?
    /// Returns whether the caller still waits for the answer.
    private let wanted: @Sendable () -> Bool
    private let count = Mutex(0)

    init(_ chosen: SettlingChoice?, _ wanted: @escaping @Sendable () -> Bool) {
        (self.chosen, self.wanted) = (chosen, wanted)
    }

    /// Number of files that this call has cancelled after their claim but before their job was recorded.
    var claimed: Int { count.withLock { $0 } }

    func cancels(claimed path: String) -> Bool {
        guard let chosen, chosen.includes(path), wanted() else { return false }
        count.withLock { $0 += 1 }
        return true
    }
}
