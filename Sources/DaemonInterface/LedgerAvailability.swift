package import DaemonRuntime

/// Reports whether the ledger can record changes.
@Coordination
package protocol LedgerAvailability {
    /// Why the ledger can't be written; nil if it can.
    nonisolated var unwritableReason: String? { get }
    /// Calls `done` when a test write has succeeded or failed.
    nonisolated func tryWriting(_ done: @escaping @Sendable (_ isWritable: Bool) -> Void)
}
