package import DaemonRuntime
package import JobModel

/// Opens, closes and finds batches. The `nonisolated` members read the ledger.
@Coordination
package protocol BatchSteering {
    /// Opens a batch, and returns its ID. Calls `done` with the ID when the batch is recorded.
    func openBatch(named name: String?, done: @escaping @Sendable (Int) -> Void) -> Int
    /// Closes a batch, so that it can end.
    nonisolated func closeBatch(_ batch: Int, done: (@Sendable () -> Void)?)
    func knows(batch: Int) -> Bool
    /// If an inbox has a folder of this name whose first pictures are still settling, opens the folder's batch. Calls
    /// `done` when the batch is recorded, or if no such folder exists.
    func expectBatch(ofFolder folder: String, done: @escaping @Sendable () -> Void)
    /// A page of the batches that are unfinished or have jobs, oldest first, with IDs greater than `id`. If `newest` is
    /// given, leaves out the finished batches that are not among the `newest` latest batches.
    nonisolated func batches(named name: String?, newest: Int?, after id: Int, limit: Int) throws -> [BatchRecord]
    /// The batch with the ID `word`, or else the newest batch with the name `word`. `others` is the number of other
    /// batches with this name.
    nonisolated func findBatch(_ word: String) throws -> (batch: BatchRecord, others: Int)?
    /// Distinct batch names, latest first.
    nonisolated func batchNames(limit: Int) throws -> [String]
}
