import DaemonRuntime
package import JobModel
import PictureFiles
import PipelineModel
import SystemCalls

/// The jobs of a list of URLs. A list may have a hundred thousand entries, so each record is made only when it is
/// written.
package struct ListedJobs: Sequence, Sendable {
    let list: AddressList
    let name: String?
    let order: WorkOrder
    let priority: Priority
    package let batch: BatchRecord
    /// The spool, in which each download has a folder of its own.
    let spool: String
    /// ID and position of the first job; the others follow consecutively.
    package let id: Int
    let position: Int
    let created = Timestamp.now()

    package var count: Int { list.entries.count }

    /// Number of lines that are not URLs. Each becomes a failed job.
    package var wrong: Int {
        list.entries.count { if case .wrong = $0 { true } else { false } }
    }

    package func makeIterator() -> some IteratorProtocol<JobRecord> { (0..<count).lazy.map(record).makeIterator() }

    package func record(_ index: Int) -> JobRecord {
        var record = JobRecord(
            id: id + index, position: position + index, batch: batch.id, order: order, path: "", origin: .spooled,
            source: "", file: .none, state: .queued, created: created, priority: priority.rank)
        switch list.entries[index] {
        case .address(let url):
            record.path = DownloadName.name(said: nil, url: url)
            record.source = Spool.download(in: spool)
            (record.url, record.host) = (url.text, url.server)
        case .wrong(let line, let reason):
            record.path = "\(name ?? "the list") line \(line)"
            (record.state, record.finished, record.error, record.failure) = (.failed, created, reason, .input)
            // A job without a URL has no original to move.
            record.disposed = true
        }
        return record
    }
}
