import JobLedger
import Synchronization

/// Collects the notifications of a ledger.
final class Listener: LedgerDelegate {
    private let batches = Mutex<[(batch: Int, news: BatchNews)]>([])
    private let changes = Mutex<[Consequences]>([])

    var consequences: [Consequences] { changes.withLock { $0 } }

    /// Returns the batch's notifications since the last call.
    func takeNews(of batch: Int) -> [BatchNews] {
        batches.withLock { all in
            defer { all = [] }
            return all.filter { $0.batch == batch }.map(\.news)
        }
    }

    func batchChanged(_ batch: Int, _ news: BatchNews) { batches.withLock { $0.append((batch, news)) } }
    func othersChanged(_ consequences: Consequences) { changes.withLock { $0.append(consequences) } }
}
