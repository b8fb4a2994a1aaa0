import Synchronization

/// A call to an inbox that it has not answered.
final class CatchUp: Sendable {
    private let chosen: SettlingChoice?
    /// Somebody still waits for the answer.
    private let wanted: @Sendable () -> Bool
    private let count = Mutex(0)

    init(_ chosen: SettlingChoice?, _ wanted: @escaping @Sendable () -> Bool) {
        (self.chosen, self.wanted) = (chosen, wanted)
    }

    /// How many files it has cancelled that were claimed when it came.
    var claimed: Int { count.withLock { $0 } }

    func cancels(claimed path: String) -> Bool {
        guard let chosen, chosen.includes(path), wanted() else { return false }
        count.withLock { $0 += 1 }
        return true
    }
}
