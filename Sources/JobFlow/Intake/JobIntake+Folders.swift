import DaemonRuntime
package import InboxWatching
import JobLedger
import JobModel
import Synchronization

/// A folder of an inbox. Its files join one batch until the inbox reports that the folder is quiet. After a crash, the
/// ledger closes all open batches, so the folder's remaining files form a new batch. Paths are compared byte by byte,
/// because Swift may treat strings with different bytes as equal.
struct DroppedFolder: Hashable {
    private var inbox: [UInt8]
    private var folder: [UInt8]

    init(_ folder: String, in inbox: String) { (self.inbox, self.folder) = (Array(inbox.utf8), Array(folder.utf8)) }

    var name: String { String(decoding: folder, as: UTF8.self) }

    func lies(in inbox: Inbox) -> Bool { self.inbox.elementsEqual(inbox.folder.utf8) }
}

extension JobIntake {
    /// Returns the batch that pictures from this folder join: the folder's open batch, or else a new batch.
    func batch(of folder: String, in inbox: String) -> BatchRecord {
        let place = DroppedFolder(folder, in: inbox)
        let id = open[place] ?? jobs.takeBatch()
        open[place] = id
        return BatchRecord(id: id, name: folder, isOpen: true)
    }

    /// Opens the batch of a folder with this name while the folder's first pictures are still settling. Calls `done`
    /// when the batch is durable, or if no such folder exists.
    package func expect(_ folder: String, done: @escaping @Sendable () -> Void) {
        let isFound = Mutex(false)
        inboxes.expect(folder) { [self] inbox in
            isFound.withLock { $0 = true }
            ledger.open(batch: batch(of: folder, in: inbox.folder).id, name: folder) {}
        } done: { [ledger] in
            if isFound.withLock({ $0 }) { ledger.whenDurable(done) } else { done() }
        }
    }

    /// Returns the inbox and the folder from which files still join this batch.
    package func place(of batch: Int) -> (inbox: Inbox, folder: String)? {
        guard let place = open.first(where: { $0.value == batch })?.key,
            let inbox = inboxes.all.first(where: place.lies)
        else { return nil }
        return (inbox, place.name)
    }

    package nonisolated func ended(folder: String, of inbox: Inbox) {
        Coordination.async { [self] in
            if let id = open.removeValue(forKey: DroppedFolder(folder, in: inbox.folder)) { ledger.close(batch: id) }
        }
    }
}
