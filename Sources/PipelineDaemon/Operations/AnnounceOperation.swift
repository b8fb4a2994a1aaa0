import PipelineModel

/// Appends to the event log that a picture has been published. Readers follow the log by cursor, so none of them delays it.
final class AnnounceOperation: AsyncOperation, @unchecked Sendable {
    // `@unchecked`: everything it holds is constant.

    private let job: Int
    private let ledger: Ledger

    init(job: Int, ledger: Ledger) {
        self.job = job
        self.ledger = ledger
    }

    override func execute() {
        guard provided != nil else { return finish(.cancelled) }
        ledger.append(LoggedEvent(kind: "picture", job: job, state: .done)) { [self] in finish(.finished) }
    }
}
