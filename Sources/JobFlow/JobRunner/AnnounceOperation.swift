import Foundation
package import OperationGraph
import Synchronization

/// Logs that a job is published, or releases the jobs of a batch that has reached a barrier. The ledger already
/// contains the event: the transaction that ended the job or brought the batch to the barrier has recorded it.
package final class AnnounceOperation: AsyncOperation, @unchecked Sendable {
    // `@unchecked`: its state is in `news`.

    /// Makes an announcement. Calls its argument when the next announcement may begin.
    typealias News = @Sendable (@escaping @Sendable () -> Void) -> Void

    private let news: Mutex<News?>

    init(_ news: News? = nil) { self.news = Mutex(news) }

    /// Sets the announcement. Must be called before the operation begins.
    func announces(_ news: @escaping @Sendable () -> Void) {
        self.news.withLock {
            $0 = { done in
                news()
                done()
            }
        }
    }

    package override func execute() {
        guard let news = news.withLock({ $0 }) else { return finish(.finished) }
        news { [self] in finish(.finished) }
    }
}
