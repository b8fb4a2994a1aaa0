/// Receives the ledger's news, on the ledger's queue unless a method says otherwise. A delegate implements only the
/// methods that it needs.
package protocol LedgerDelegate: AnyObject, Sendable {
    /// All jobs of a batch have reached a barrier or ended. Called after the completions of the writes that caused
    /// this.
    func batchChanged(_ batch: Int, _ news: BatchNews)
    /// The ledger has become unwritable, or can be written again.
    func ledgerProblemChanged()
    /// Dependents of ended jobs were queued or have failed, and this change is durable. Called before the completion of
    /// the write that ended the jobs.
    func othersChanged(_ consequences: Consequences)
    /// Whether the next commit should wait for further changes that are about to arrive. Read during a burst of writes.
    var awaitsOthers: Bool { get }
    /// A read has failed. Called on the reader's thread, and not again until `Ledger.readAgain` has run.
    func readFailed()
}

extension LedgerDelegate {
    package func batchChanged(_ batch: Int, _ news: BatchNews) {}
    package func ledgerProblemChanged() {}
    package func othersChanged(_ consequences: Consequences) {}
    package var awaitsOthers: Bool { false }
    package func readFailed() {}
}

/// Follows the events of the ledger.
package protocol LedgerFollower: AnyObject, Sendable {
    /// Changes have been committed, so there may be new events. Called on the ledger's queue.
    func ledgerCommitted()
}
