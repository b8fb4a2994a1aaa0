package import DaemonRuntime
package import InboxWatching
import JobLedger
import JobModel
import Synchronization

/// The open batches of dropped folders. Files from one folder of an inbox join the same batch until the inbox reports
/// that the folder is quiet. After a crash, the ledger closes all open batches, and the remaining files of a folder
/// form a new batch.
@Coordination
package final class FolderBatches {
    private struct Place: Hashable {
        var inbox: [UInt8]
        var folder: [UInt8]

        init(_ folder: String, in inbox: String) { (self.inbox, self.folder) = (Array(inbox.utf8), Array(folder.utf8)) }
    }

    private let ledger: Ledger
    private let jobs: JobQueue
    private let inboxes: Inboxes
    private var open: [Place: Int] = [:]

    init(_ ledger: Ledger, _ jobs: JobQueue, _ inboxes: Inboxes) {
        (self.ledger, self.jobs, self.inboxes) = (ledger, jobs, inboxes)
    }

    /// The batch that pictures from this folder join.
    func batch(of folder: String, in inbox: String) -> BatchRecord {
        let place = Place(folder, in: inbox)
        let id = open[place] ?? jobs.takeBatch()
        open[place] = id
        return BatchRecord(id: id, name: folder, isOpen: true)
    }

    /// Opens the batch of a folder with this name while its first pictures are still settling. Calls `done` when the
    /// batch is durable, or if no such folder exists.
    package func expect(_ folder: String, done: @escaping @Sendable () -> Void) {
        let isFound = Mutex(false)
        inboxes.expect(folder) { [self] inbox in
            isFound.withLock { $0 = true }
            ledger.open(batch: batch(of: folder, in: inbox.folder).id, name: folder) {}
        } done: { [ledger] in
            if isFound.withLock({ $0 }) { ledger.whenDurable(done) } else { done() }
        }
    }

    /// The inbox and the folder from which files still join this batch.
    package func place(of batch: Int) -> (inbox: Inbox, folder: String)? {
        guard let place = open.first(where: { $0.value == batch })?.key,
            let inbox = inboxes.all.first(where: { place.inbox.elementsEqual($0.folder.utf8) })
        else { return nil }
        return (inbox, String(decoding: place.folder, as: UTF8.self))
    }

    /// Closes the folder's batch, if it has one.
    func end(_ folder: String, in inbox: String) {
        if let id = open.removeValue(forKey: Place(folder, in: inbox)) { ledger.close(batch: id) }
    }
}
