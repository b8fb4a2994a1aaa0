package import JobModel
import PictureFiles
import PipelineModel
import ServiceProgram
import SystemCalls

/// The jobs of a list of URLs. A list may have a hundred thousand entries, so each job's record is made only when the
/// ledger writes it.
package struct ListedJobs: Sequence, Sendable {
    let list: AddressList
    let name: String?
    let order: WorkOrder
    /// The work order of each recipe that a row of the list names, by recipe.
    let orders: [String: WorkOrder]
    /// The priority that the client asked for; nil to use the priority of each recipe.
    let priority: Priority?
    package let batch: BatchRecord
    /// The spool, in which each download has a folder of its own.
    let spool: String
    /// ID and position of the first job. The other jobs have the IDs and positions that follow.
    package let id: Int
    let position: Int
    let created = Timestamp.now()
    /// A phrase that names the user who has added the list, for the jobs' events.
    var cause: String?

    package var count: Int { list.entries.count }

    var highestPriority: Priority {
        priority ?? orders.values.reduce(order.priority) { Swift.max($0, $1.priority) }
    }

    /// Number of lines with a mistake. Each of these lines becomes a failed job.
    package var wrong: Int { list.wrong }

    package func makeIterator() -> some IteratorProtocol<JobRecord> { (0..<count).lazy.map(record).makeIterator() }

    package func record(_ index: Int) -> JobRecord {
        let entry = list.entries[index]
        var (row, order) = (ListRow?.none, order)
        if case .row(_, let listed) = entry {
            row = listed
            order = listed.recipe.flatMap { orders[$0] } ?? order
        }
        var record = JobRecord(
            id: id + index, position: position + index, batch: batch.id, order: order, path: "", origin: .spooled,
            source: "", file: .none, state: .queued, created: created, priority: (priority ?? order.priority).rank,
            texts: row?.texts)
        record.cause = cause
        switch entry {
        case .address(let url), .row(let url, _):
            record.path = DownloadName.given(row?.texts.name, else: DownloadName.name(said: nil, url: url))
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
