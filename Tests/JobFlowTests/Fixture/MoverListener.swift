import DaemonRuntime
import Dispatch
import JobModel

@testable import JobFlow
@testable import PictureFiles

/// A delegate of the mover of originals. It yields each event, and then passes the event on to the owners.
@Coordination
final class MoverListener: OriginalMoverDelegate {
    enum News { case willMove, arrived }

    private let owners: Owners
    private let news: AsyncStream<News>.Continuation

    init(_ owners: Owners, _ news: AsyncStream<News>.Continuation) { (self.owners, self.news) = (owners, news) }

    func originalsWillMove() {
        news.yield(.willMove)
        owners.originalsWillMove()
    }

    func originalsArrived(of jobs: [JobRecord]) {
        news.yield(.arrived)
        owners.originalsArrived(of: jobs)
    }

    func returnsUndone(of jobs: Set<Int>) { owners.returnsUndone(of: jobs) }
    func delaysChanged() { owners.delaysChanged() }
    func backlogUnread() { owners.backlogUnread() }

    func whenOpened(_ inboxes: Set<String>, on line: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        owners.whenOpened(inboxes, on: line, body)
    }
}

extension OwnersFixture {
    /// Returns a delegate for a mover, which the caller must keep alive, and the events that it receives.
    func listen() -> (AsyncStream<MoverListener.News>, MoverListener) {
        let (stream, news) = AsyncStream<MoverListener.News>.makeStream()
        return (stream, Coordination.sync { MoverListener(owners, news) })
    }
}
