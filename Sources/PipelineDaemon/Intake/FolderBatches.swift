import DaemonRuntime
import JobLedger

/// The open batches of dropped folders: what comes into a folder of an inbox belongs together until the inbox says
/// that the folder is quiet. After a crash the ledger closes them, and the rest of a folder is a batch of its own.
@Coordination
final class FolderBatches {
    private struct Place: Hashable {
        var inbox: [UInt8]
        var folder: [UInt8]

        init(_ folder: String, in inbox: String) { (self.inbox, self.folder) = (Array(inbox.utf8), Array(folder.utf8)) }
    }

    private let ledger: Ledger
    private let numbers: JobNumbers
    private var open: [Place: Int] = [:]

    init(_ ledger: Ledger, _ numbers: JobNumbers) { (self.ledger, self.numbers) = (ledger, numbers) }

    /// The batch that a picture from this folder joins.
    func batch(of folder: String, in inbox: String) -> BatchRecord {
        let place = Place(folder, in: inbox)
        let id = open[place] ?? numbers.takeBatch()
        open[place] = id
        return BatchRecord(id: id, name: folder, isOpen: true)
    }

    /// Closes the folder's batch, if it has one.
    func end(_ folder: String, in inbox: String) {
        if let id = open.removeValue(forKey: Place(folder, in: inbox)) { ledger.close(batch: id) }
    }
}
