package import DaemonRuntime

/// Tells whether changes can be recorded.
@Coordination
package protocol LedgerAvailability {
    /// Why the ledger can't be written; nil if it can.
    nonisolated var unwritableReason: String? { get }
    /// Calls `done` when a test write has succeeded or failed.
    nonisolated func tryWriting(_ done: @escaping @Sendable (_ isWritable: Bool) -> Void)
}
