import DaemonConfiguration
package import DaemonRuntime
import Dispatch
package import InboxWatching
import PictureFiles
import PipelineModel
import ServiceProgram
import Synchronization
import SystemCalls

/// The inboxes of the configuration in force.
@Coordination
package final class Inboxes {
    private let configuration: ConfigurationInForce
    private let claims: ClaimFolders
    package private(set) var all: [Inbox] = []
    /// Whether startup has stopped waiting for the inboxes. Each inbox is then watched, has reported why it can't be
    /// watched, or has not answered in time.
    private(set) var areOpen = false
    /// Called when `areOpen` becomes true.
    private var whenOpen: (@Sendable () -> Void)?

    init(_ configuration: ConfigurationInForce, _ claims: ClaimFolders) {
        (self.configuration, self.claims) = (configuration, claims)
    }

    /// Whether no file is settling in any inbox, and each inbox has completed its first scan or has a lasting problem.
    var areIdle: Bool {
        all.allSatisfy { inbox in
            let report = inbox.report
            return report.settling == 0 && !report.isPassing && (report.scanned || report.problem != nil)
        }
    }

    /// Messages about temporary problems of inboxes. While such a problem lasts, the daemon can't tell which files the
    /// inbox contains.
    var delays: [String] {
        all.compactMap { inbox in
            let report = inbox.report
            return report.isPassing ? report.problem.map { "inbox \(inbox.folder): \($0)" } : nil
        }
    }

    /// Number of settling files in all inboxes.
    var settling: Int { all.reduce(0) { $0 + $1.report.settling } }

    package func inbox(of recipe: String) -> Inbox? { all.first { $0.recipe.name == recipe } }

    /// Opens the inboxes of the configuration. If a new inbox replaces an earlier inbox on the same folder, the new
    /// inbox begins after the earlier inbox has stopped.
    func open(adopting: Bool = false, into sink: any IntakeSink) {
        let old = all
        let current = configuration.now
        let watched = current.watched(configuration.places)
        let others = watched.map(\.path) + current.misplacedOutboxes
        all = watched.map { folder in
            Inbox(
                Inbox.Watch(
                    folder: folder.path, recipe: folder.recipe,
                    longestPlace: longestPlace(of: folder.recipe, folder.path),
                    excluded: others.filter { FileSystem.lies($0, within: folder.path) && $0 != folder.path },
                    refusal: folder.refusal),
                claims: claims, sink: sink)
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

    /// Returns the length in bytes of the longest folder path that may contain an original or a result of the recipe.
    private func longestPlace(of recipe: Recipe, _ inbox: String) -> Int {
        let places = configuration.places
        let claimed = "\(inbox)/\(ClaimFolder.name)/\(UUIDName.make())/0000"
        let others = [places.archive, places.failed, places.cancelled].map { "\($0)/\(recipe.name)" }
        // Adds 64 bytes for the numbers and suffixes that may follow a name.
        return 64 + ([claimed, configuration.outbox(of: recipe)] + others).reduce(0) { max($0, $1.utf8.count) }
    }

    // MARK: - Waiting for inboxes

    /// Processes every event so far in the inboxes in `some`, or in all inboxes if `some` is nil. Cancels the chosen
    /// settling files in these inboxes. Calls `done` with the number of cancelled files, and with a message for each
    /// inbox that could not cancel its files. Does not wait for an inbox that hangs.
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

    /// Logs and returns the reason why an inbox could not cancel its files. Returns nil if it has cancelled them.
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

    /// Calls `found` for each inbox that is taking in pictures from a folder with this name, then calls `done`. Each of
    /// these inboxes later reports to its sink that the folder is complete.
    func expect(_ folder: String, found: @escaping Done<Inbox>, done: @escaping @Coordination @Sendable () -> Void) {
        each(all) { inbox, wanted, over in
            // `found` runs before `done`: both run on the coordination queue, and the inbox submits `found` first.
            inbox.expect(folder, wanted: wanted, found: { Coordination.async { found(inbox) } }, done: over)
        } done: { _ in
            done()
        }
    }

    /// Calls `ask` for each of these inboxes, and `done` once each inbox has answered by calling `over`. Gives up on
    /// inboxes that neither answer nor make progress within HangTimeout.
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

    /// Stops waiting for the silent inboxes if none of them makes progress within HangTimeout. An inbox that makes
    /// progress will answer after its current work.
    private func giveUp(_ once: Once, after former: [Int]) {
        Coordination.after(configuration.settings.hangTimeout) { [self] in
            guard !once.isOver else { return }
            let steps = once.silent.map(\.steps)
            if steps == former { once.call() } else { giveUp(once, after: steps) }
        }
    }

    /// Runs `body` on `line` once the inboxes of these folders have opened. At startup, opening includes taking in
    /// claimed files that the ledger does not contain.
    func whenOpened(_ folders: Set<String>, on line: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        let opened = DispatchGroup()
        for inbox in all where folders.contains(inbox.folder) {
            opened.enter()
            inbox.afterwards { opened.leave() }
        }
        opened.notify(queue: line, execute: body)
    }

    /// Calls `done` when each inbox is watched, or has reported why it can't be watched. Waits at most HangTimeout for
    /// inboxes that do not answer.
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

/// Runs a completion only once, even if `call` is called twice. Also tracks the inboxes that have not answered.
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
