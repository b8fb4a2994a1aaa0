import DaemonRuntime
import Dispatch
import JobModel

@testable import JobFlow
@testable import PictureFiles

/// A delegate of the mover of originals. It reports when originals have arrived, and passes all events on to the
/// owners.
@Coordination
final class MoverListener: OriginalMoverDelegate {
    private let owners: Owners
    private let news: AsyncStream<Void>.Continuation

    init(_ owners: Owners, _ news: AsyncStream<Void>.Continuation) { (self.owners, self.news) = (owners, news) }

    var hangTimeout: Duration { owners.hangTimeout }

    func originalsArrived(of jobs: [JobRecord]) {
        news.yield()
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
    /// Returns a stream with an element for each report that originals have arrived. Also returns the mover's delegate,
    /// which the caller must keep alive.
    func listen() -> (AsyncStream<Void>, MoverListener) {
        let (stream, news) = AsyncStream<Void>.makeStream()
        return (stream, Coordination.sync { MoverListener(owners, news) })
    }
}
