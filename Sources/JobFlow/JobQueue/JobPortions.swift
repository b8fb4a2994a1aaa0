import DaemonRuntime
import JobLedger
import JobModel
import ServiceProgram

/// Reads the jobs that match a filter, up to the ID `last`. Reads them in portions, so that other work can run between
/// two portions.
@Coordination
struct JobPortions {
    /// Jobs per portion. The caller changes all jobs of a portion together, so that they share a few commits.
    nonisolated static let size = 2000

    let ledger: Ledger
    let filter: JobFilter
    let last: Int

    /// Calls `each` with one portion after another. `each` calls `goOn` to get the next portion. Calls `done` after the
    /// last portion, or with the error that stopped the reading. `outcome` is passed on from call to call.
    func each<Outcome: Sendable>(
        _ outcome: Outcome, after id: Int = 0,
        _ each:
            @escaping @Coordination @Sendable (
                [JobRecord], Outcome, _ goOn: @escaping Done<Outcome>
            ) -> Void,
        done: @escaping @Coordination @Sendable (Outcome, (any Error)?) -> Void
    ) {
        guard id < last else { return done(outcome, nil) }
        FileLanes.ledger.async {
            let read = Result { try ledger.list(filter, after: id, limit: Self.size) }
            Coordination.async {
                switch read {
                case .failure(let error): done(outcome, error)
                case .success(let rows):
                    guard let next = rows.last?.id else { return done(outcome, nil) }
                    each(rows.filter { $0.id <= last && !$0.isList }, outcome) {
                        self.each($0, after: next, each, done: done)
                    }
                }
            }
        }
    }
}
