import Dispatch
import PipelineModel
import Synchronization
import SystemCalls
import TestTools

@testable import InboxWatching

/// Accepts an inbox's files, as the supervisor does. The first `failures` lookups fail as if the ledger were
/// unreadable.
final class InboxSink: IntakeSink {
    private struct Unreadable: Error {}

    /// The place of a test's files: the top of the inbox, or a folder in it.
    enum Depth { case top, folder }

    private let kept: KeptFiles
    private let failures: Int
    private let gate: Gate?
    private let state = Mutex<(asked: Int, taken: [Claim], ended: [String])>((0, [], []))
    /// Yields whenever the inbox has been scanned and no file in it is settling.
    let isWatched = AsyncStream<Void>.makeStream()

    /// Yields whenever the inbox hands over claimed files.
    let isTaking = AsyncStream<Void>.makeStream()

    /// If there is a `gate`, the sink records files only once the gate is open.
    init(kept: KeptFiles = KeptFiles(), failures: Int = 0, gate: Gate? = nil) {
        (self.kept, self.failures, self.gate) = (kept, failures, gate)
    }

    var asked: Int { state.withLock { $0.asked } }
    var taken: [String] { state.withLock { $0.taken.map(\.path) } }
    var sources: [String] { state.withLock { $0.taken.map(\.source) } }
    var cancelled: Int { state.withLock { $0.taken.count(where: \.cancelled) } }
    var ended: [String] { state.withLock { $0.ended } }

    /// Creates an inbox that claims files immediately and repeats a failed scan after ten milliseconds.
    func inbox(
        _ folder: String, original: OriginalPolicy = .archive, refusal: String? = nil, room: Int? = nil,
        pollInterval: Duration = .milliseconds(10)
    ) -> Inbox {
        var intake = InboxSettings()
        intake.settle = .zero
        intake.pollInterval = pollInterval
        let recipe = Recipe(name: "r", inbox: "", outbox: "", original: original, intake: intake, outputs: [])
        return Inbox(
            Inbox.Watch(folder: folder, recipe: recipe, longestPlace: 0, excluded: [], refusal: refusal),
            claims: ClaimFolders(root: "r"), sink: self, room: room)
    }

    func accept(
        _ claims: [Claim], from inbox: Inbox, counted: @escaping @Sendable () -> Void,
        done: @escaping @Sendable () -> Void
    ) {
        state.withLock { $0.taken += claims }
        isTaking.continuation.yield()
        counted()
        guard let gate else { return done() }
        // `gate.wait()` blocks its thread, so the sink calls it on a thread other than the inbox's.
        DispatchQueue.global().async {
            gate.wait()
            done()
        }
    }

    func ended(folder: String, of inbox: Inbox) { state.withLock { $0.ended.append(folder) } }

    func knows(source: String) throws -> Bool { false }

    func forEachKnown(in folder: String, _ each: (String) -> Void) throws {}

    func needsClaims(in folder: String) throws -> Bool { false }

    func isOriginal(_ source: String, as path: String, _ file: FileStatus.Identity) throws -> Bool { false }

    func kept(in folder: String) throws -> KeptFiles {
        try state.withLock { state in
            state.asked += 1
            if state.asked <= failures { throw Unreadable() }
            return kept
        }
    }

    func changed(_ inbox: Inbox) {
        if inbox.report.scanned, inbox.report.settling == 0 { isWatched.continuation.yield() }
    }
}
