import DaemonConfiguration
package import DaemonRuntime
import Dispatch
package import InboxWatching
import PictureFiles
import PipelineModel
import Synchronization
import SystemCalls
import WorkerPools

/// The inboxes of the configuration in force.
@Coordination
package final class Inboxes {
    private let configuration: ConfigurationInForce
    private let claims: ClaimFolders
    package private(set) var all: [Inbox] = []
    /// Whether each inbox is watched, or the start has stopped waiting for it.
    private(set) var areOpen = false
    /// Called when `areOpen` becomes true.
    private var whenOpen: (@Sendable () -> Void)?

    init(_ configuration: ConfigurationInForce, _ claims: ClaimFolders) {
        (self.configuration, self.claims) = (configuration, claims)
    }

    /// Whether no file settles in them, and all files from before the start have been seen.
    var areIdle: Bool {
        all.allSatisfy { inbox in
            let report = inbox.report
            return report.settling == 0 && !report.isPassing && (report.scanned || report.problem != nil)
        }
    }

    /// Passing problems of inboxes whose files are unknown for now.
    var delays: [String] {
        all.compactMap { inbox in
            let report = inbox.report
            return report.isPassing ? report.problem.map { "inbox \(inbox.folder): \($0)" } : nil
        }
    }

    /// Number of files that settle in them.
    var settling: Int { all.reduce(0) { $0 + $1.report.settling } }

    package func inbox(of recipe: String) -> Inbox? { all.first { $0.recipe.name == recipe } }

    /// Opens the inboxes of the configuration. If one replaces another on the same folder, it begins once that has
    /// stopped.
    func open(adopting: Bool = false, into sink: any IntakeSink) {
        let old = all
        let current = configuration.now
        let watched = current.watched(configuration.places)
        let others = watched.map(\.path) + current.misplacedOutboxes
        all = watched.map { folder in
            Inbox(
                folder: folder.path, recipe: folder.recipe, longestPlace: longestPlace(of: folder.recipe, folder.path),
                excluded: others.filter { FileSystem.lies($0, within: folder.path) && $0 != folder.path },
                claims: claims, sink: sink, refusal: folder.refusal)
        }
        for inbox in all where !old.contains(where: { $0.folder == inbox.folder }) {
            inbox.begin(adopting: adopting)
        }
        for former in old {
            let successor = all.first { $0.folder == former.folder }
            former.stop { remains in
                guard let successor else { return remains.end(former, in: sink) }
                successor.begin(adopting: false, with: remains)
            }
        }
    }

    func stop() {
        for inbox in all { inbox.stop() }
    }

    func mountsChanged() {
        for inbox in all { inbox.mountsChanged() }
    }

    /// Bytes of the longest folder path that an original or a result of a recipe may have.
    private func longestPlace(of recipe: Recipe, _ inbox: String) -> Int {
        let places = configuration.places
        let claimed = "\(inbox)/\(ClaimFolder.name)/\(UUIDName.make())/0000"
        let others = [places.archive, places.failed, places.cancelled].map { "\($0)/\(recipe.name)" }
        // Room for the numbers and suffixes that follow a name.
        return 64 + ([claimed, configuration.outbox(of: recipe)] + others).reduce(0) { max($0, $1.utf8.count) }
    }

    // MARK: - Waiting for inboxes

    /// Lets these inboxes, or all, process every event so far. The chosen files in them end cancelled. Calls `done`
    /// with their number, and with the inboxes that have not cancelled theirs. It does not wait for an inbox that
    /// hangs.
    func catchUp(
        cancelling chosen: SettlingChoice? = nil, _ some: [Inbox]? = nil,
        done: @escaping @Coordination @Sendable (_ cancelled: Int, _ left: [String]) -> Void
    ) {
        let count = Mutex(0)
        each(some ?? all) { inbox, wanted, over in
            inbox.catchUp(cancelling: chosen, wanted: wanted) { cancelled in
                count.withLock { $0 += cancelled }
                over()
            }
        } done: { [self] silent in
            done(count.withLock { $0 }, chosen == nil ? [] : (some ?? all).compactMap { leaves($0, silent) })
        }
    }

    /// Why the files in an inbox are not cancelled; nil if they are.
    private func leaves(_ inbox: Inbox, _ silent: [Inbox]) -> String? {
        let report = inbox.report
        let isSilent = silent.contains { $0 === inbox }
        guard isSilent || report.isPassing else { return nil }
        let reason = isSilent ? "does not answer" : "can't be read (\(report.problem ?? ""))"
        let line = "inbox \(inbox.folder) \(reason): the files that lie in it are not cancelled"
        let advice = "cancel again when it \(isSilent ? "answers" : "can be read")"
        Log.failure(line, advice: advice, of: LogSubject(recipe: inbox.recipe.name))
        return "\(line); \(advice)"
    }

    /// Calls `found` with each inbox that is taking in pictures from a folder of this name, and `done` after all. The
    /// inbox tells its sink later that the folder has ended.
    func expect(
        _ folder: String, found: @escaping @Coordination @Sendable (Inbox) -> Void,
        done: @escaping @Coordination @Sendable () -> Void
    ) {
        each(all) { inbox, wanted, over in
            // The folder's end is reported later on the same queue.
            inbox.expect(folder, wanted: wanted, found: { Coordination.async { found(inbox) } }, done: over)
        } done: { _ in
            done()
        }
    }

    /// Asks these inboxes. Calls `done` when each has called `over` or is silent: it gives up on an inbox that makes no
    /// progress within HangTimeout.
    private func each(
        _ some: [Inbox],
        _ ask: (Inbox, _ wanted: @escaping @Sendable () -> Bool, _ over: @escaping @Sendable () -> Void) -> Void,
        done: @escaping @Coordination @Sendable (_ silent: [Inbox]) -> Void
    ) {
        let group = DispatchGroup()
        let once = Once(some, done)
        for inbox in some {
            group.enter()
            ask(inbox, { !once.isOver }) {
                once.answered(inbox)
                group.leave()
            }
        }
        Coordination.notify(group) { once.call() }
        giveUp(once, after: some.map(\.steps))
    }

    /// Waits on while any silent inbox makes progress: it answers after its present work.
    private func giveUp(_ once: Once, after former: [Int]) {
        Coordination.after(configuration.settings.hangTimeout) { [self] in
            guard !once.isOver else { return }
            let steps = once.silent.map(\.steps)
            if steps == former { once.call() } else { giveUp(once, after: steps) }
        }
    }

    /// Runs `body` on `line` once the inboxes of these folders are open. At the start they take in claimed files that
    /// the ledger does not know.
    func whenOpened(_ folders: Set<String>, on line: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        let opened = DispatchGroup()
        for inbox in all where folders.contains(inbox.folder) {
            opened.enter()
            inbox.afterwards { opened.leave() }
        }
        opened.notify(queue: line, execute: body)
    }

    /// Calls `done` when each inbox is watched, or has reported why it can't be. An inbox that does not answer delays
    /// this by HangTimeout at most.
    func whenOpen(_ done: @escaping @Sendable () -> Void) {
        whenOpen = done
        lookWhetherOpen()
        Coordination.after(configuration.settings.hangTimeout) { [self] in
            guard whenOpen != nil else { return }
            for inbox in all where !inbox.report.isOpen {
                Log.failure(
                    "inbox \(inbox.folder) does not answer; it is watched as soon as it does",
                    of: LogSubject(recipe: inbox.recipe.name))
            }
            opened()
        }
    }

    func lookWhetherOpen() {
        if whenOpen != nil, all.allSatisfy(\.report.isOpen) { opened() }
    }

    private func opened() {
        areOpen = true
        whenOpen?()
        whenOpen = nil
    }
}

/// A completion with two callers, which runs once; and the inboxes that have not answered.
private final class Once: Sendable {
    typealias Body = @Coordination @Sendable (_ silent: [Inbox]) -> Void

    private let state: Mutex<(body: Body?, silent: [Inbox])>

    init(_ some: [Inbox], _ body: @escaping Body) { state = Mutex((body, some)) }

    var isOver: Bool { state.withLock { $0.body == nil } }
    var silent: [Inbox] { state.withLock { $0.silent } }

    func answered(_ inbox: Inbox) { state.withLock { $0.silent.removeAll { $0 === inbox } } }

    @Coordination
    func call() {
        let taken = state.withLock { state in
            defer { state.body = nil }
            return (state.body, state.silent)
        }
        taken.0?(taken.1)
    }
}
