/// Receives the ledger's news, on the ledger's queue unless a method says otherwise. A delegate implements only the
/// methods that it needs.
package protocol LedgerDelegate: AnyObject, Sendable {
    /// Called when all jobs of a batch have reached a barrier or ended. The completion handlers of all writes in the
    /// same commit run before this call.
    func batchChanged(_ batch: Int, _ news: BatchNews)
    /// Called when the ledger can't be written any more, or can be written again.
    func ledgerProblemChanged()
    /// Called when a write that has changed the states of dependents is durable, before the write's completion.
    func othersChanged(_ consequences: Consequences)
    /// Whether the next commit should wait for further changes that are about to arrive. Read during a burst of writes.
    var awaitsOthers: Bool { get }
    /// Called on the reader's thread when a read has failed, and not again until `Ledger.readAgain` has run.
    func readFailed()
}

extension LedgerDelegate {
    package func batchChanged(_ batch: Int, _ news: BatchNews) {}
    package func ledgerProblemChanged() {}
    package func othersChanged(_ consequences: Consequences) {}
    package var awaitsOthers: Bool { false }
    package func readFailed() {}
}

/// Gets notice of the ledger's commits, to read new events.
package protocol LedgerFollower: AnyObject, Sendable {
    /// Called on the ledger's queue after each commit, because there may be new events.
    func ledgerCommitted()
}
