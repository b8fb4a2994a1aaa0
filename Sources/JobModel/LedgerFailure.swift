/// An error of the ledger. The message says why the ledger can't be read or written.
package protocol LedgerFailure: Error {
    var message: String { get }
}
