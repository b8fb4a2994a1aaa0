import Foundation
package import OperationGraph
import PipelineModel
import Synchronization

/// Tells those who follow the daemon's log that a job is published, or releases a batch that has reached a barrier. The
/// ledger has logged the end of a job already, in the transaction that ended it.
package final class AnnounceOperation: AsyncOperation, @unchecked Sendable {
    // `@unchecked`: its state is in `news`.

    /// Calls its argument when the next announcement may begin.
    typealias News = @Sendable (@escaping @Sendable () -> Void) -> Void

    private let news: Mutex<News?>

    init(_ news: News? = nil) { self.news = Mutex(news) }

    /// Sets the news. The operation must not have begun.
    func tells(_ news: @escaping @Sendable () -> Void) {
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
