import Glibc
import PipelineModel
import Synchronization
import SystemCalls
import WorkerProtocol

/// A picture that is lent, and the attempt that has it. After its end nothing is written to its files.
final class Loan: Sendable {
    struct Attempt {
        var node: String
        var token: String
        /// When it last showed life.
        var seen = ContinuousClock.now
        /// The node has said that it takes the picture, or has asked for something.
        var isBegun = false
        /// It has asked for the last byte of the sources.
        var isFetched: Bool
        /// What an attempt before it has written is gone.
        var isEmpty = false
        /// Its results are being looked at.
        var isEnding = false
    }

    struct Refusal: Error { var reason: String }

    /// For a node that takes it.
    struct Search {
        var since: ContinuousClock.Instant
        var refusers: Set<String>
        var only: String?

        func mayAsk(_ node: String) -> Bool { (only == nil || only == node) && !refusers.contains(node) }
    }

    private struct State {
        var attempt: Attempt?
        /// The nodes that have begun, and were lost with it.
        var lost: [String] = []
        /// Nodes that don't take it, until then.
        var refusers: [String: ContinuousClock.Instant] = [:]
        /// When it began to wait for a node.
        var waits = ContinuousClock.now
        var isOver = false
    }

    /// A picture that so many nodes were lost with is not offered again.
    static let mostLosses = 3
    private static let refusal = Duration.seconds(30)

    let key: LentKey
    let picture: LentPicture
    /// No other node is asked; nil: every node may be.
    let only: String?
    private let sources: [Descriptor]
    private let targets: [Descriptor]
    private let state = Mutex(State())

    init(
        _ key: LentKey, _ picture: LentPicture, only: String?, sources: [Descriptor], targets: [Descriptor]
    ) {
        (self.key, self.picture, self.only) = (key, picture, only)
        (self.sources, self.targets) = (sources, targets)
    }

    /// The last source that has bytes.
    private var lastSource: Int? { picture.bytes.sizes.lastIndex { $0 > 0 } }

    // MARK: - Finding a node

    /// Nil when a node has it.
    var search: Search? {
        state.withLock { state in
            guard state.attempt == nil, !state.isOver else { return nil }
            state.refusers = state.refusers.filter { $0.value > .now }
            return Search(since: state.waits, refusers: Set(state.refusers.keys), only: only)
        }
    }

    /// Makes an attempt for a node that is asked now. Nil when there is one, or none is wanted.
    func attempt(by node: String) -> String? {
        state.withLock { state in
            guard state.attempt == nil, !state.isOver else { return nil }
            let token = Token.made()
            state.attempt = Attempt(node: node, token: token, isFetched: lastSource == nil)
            return token
        }
    }

    /// The node has said yes. Returns false when the attempt is over. `announce` is called at its first sign of life.
    func begins(_ token: String, announce: (_ node: String) -> Void) -> Bool {
        state.withLock { Self.has(token, by: nil, &$0, announce) }
    }

    /// The node has not taken it. Returns false when it has, after all, or is not asked any more.
    func isNotBegun(_ token: String) -> Bool {
        state.withLock { state in
            guard state.attempt?.token == token, state.attempt?.isBegun == false else { return false }
            state.attempt = nil
            return true
        }
    }

    func isRefused(by node: String) { state.withLock { $0.refusers[node] = .now + Self.refusal } }

    /// The attempt has shown no life for so long that it makes room for another. Returns its node.
    func isLost(after patience: Duration) -> String? {
        state.withLock { state in
            guard let attempt = state.attempt, attempt.isBegun, !attempt.isEnding, attempt.seen + patience < .now else {
                return nil
            }
            (state.attempt, state.waits) = (nil, .now)
            // It can't be dangerous to a node that has not got it.
            if attempt.isFetched { state.lost.append(attempt.node) }
            return attempt.node
        }
    }

    /// The node that is fetching it.
    var fetcher: String? {
        state.withLock { state in state.attempt.flatMap { $0.isFetched ? nil : $0.node } }
    }

    func mayBeSilent() { state.withLock { $0.attempt?.seen = .now } }

    /// The nodes that were lost with it, if they are too many.
    var dangerousTo: [String]? {
        state.withLock { $0.lost.count < Self.mostLosses ? nil : $0.lost }
    }

    // MARK: - What a node asks

    /// The attempt gives it up, which is no node's loss. Returns false when it does not have it.
    func leave(_ token: String, by node: String) -> Bool {
        state.withLock { state in
            guard Self.has(token, by: node, &state), state.attempt?.isEnding == false else { return false }
            (state.attempt, state.waits) = (nil, .now)
            return true
        }
    }

    /// Whether this attempt has it; that shows life.
    func has(
        _ token: String, by node: String, begins: (_ node: String) -> Void = { _ in }, then announce: () -> Void = {}
    ) -> Bool {
        state.withLock { state in
            guard Self.has(token, by: node, &state, begins) else { return false }
            announce()
            return true
        }
    }

    private static func has(
        _ token: String, by node: String?, _ state: inout State, _ begins: (_ node: String) -> Void = { _ in }
    ) -> Bool {
        guard !state.isOver, var attempt = state.attempt, attempt.token == token, node == nil || attempt.node == node
        else { return false }
        if !attempt.isBegun { begins(attempt.node) }
        (attempt.seen, attempt.isBegun) = (.now, true)
        state.attempt = attempt
        return true
    }

    /// A piece, and whether it is the last of the sources.
    func read(_ index: Int, at offset: Int64) throws -> (bytes: [UInt8], isLast: Bool) {
        let sizes = picture.bytes.sizes
        guard sources.indices.contains(index), (0...sizes[index]).contains(offset) else {
            throw Refusal(reason: "there is no such piece")
        }
        let length = min(Int64(Piece.most), sizes[index] - offset)
        let isLast = index == lastSource && offset + length == sizes[index]
        return (try sources[index].piece(at: offset, Int(length)), isLast)
    }

    func isFetched(by token: String) {
        state.withLock { if $0.attempt?.token == token { $0.attempt?.isFetched = true } }
    }

    /// Returns false when the attempt does not have it any more.
    func write(_ bytes: [UInt8], _ index: Int, at offset: Int64, _ token: String, by node: String) throws -> Bool {
        guard targets.indices.contains(index), bytes.count <= Piece.most, offset >= 0,
            offset <= picture.limits.maxResult - Int64(bytes.count)
        else { throw Refusal(reason: "the piece is larger than what may be written") }
        return try state.withLock { state in
            guard Self.has(token, by: node, &state), state.attempt?.isEnding == false else { return false }
            if state.attempt?.isEmpty == false {
                for target in targets { try target.empty() }
                state.attempt?.isEmpty = true
            }
            try targets[index].put(bytes, at: offset)
            return true
        }
    }

    /// From now on nothing is written, and no other attempt begins, until the results have been looked at.
    func beginsEnd(_ token: String, by node: String) -> Bool {
        state.withLock { state in
            guard Self.has(token, by: node, &state), state.attempt?.isEnding == false else { return false }
            state.attempt?.isEnding = true
            return true
        }
    }

    func goesOn() {
        state.withLock { state in
            state.attempt?.isEnding = false
            state.attempt?.seen = .now
        }
    }

    /// Whether the files hold what the node says that it has sent.
    func check(_ digests: [FileDigest]) throws {
        guard digests.count == targets.count else {
            throw Refusal(reason: "the results are not as many as the outputs")
        }
        for (target, digest) in zip(targets, digests) {
            guard try FileDigest(of: target) == digest else { throw Refusal(reason: "a result has not come whole") }
        }
    }

    /// The outputs with the hashes that are wanted: those of the files that have come.
    func outputs(of result: LentResult) -> [RenderedOutput] {
        zip(picture.outputs, zip(result.outputs, result.digests)).map { wanted, made in
            var (output, digest) = made
            output.hash = wanted.wantsHash ? digest.sha256 : nil
            return output
        }
    }

    /// Returns the node that has it.
    func end() -> String? {
        state.withLock { state in
            state.isOver = true
            return state.attempt?.node
        }
    }
}
