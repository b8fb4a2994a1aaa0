import Glibc
import PipelineModel
import Synchronization
import SystemCalls
import WorkerProtocol

/// A picture that this node lends, and the current attempt of another node to render it. After `end()`, nothing is
/// written to the picture's files.
final class Loan: Sendable {
    struct Attempt {
        var node: String
        var token: String
        /// When the node last sent a sign of life.
        var seen = ContinuousClock.now
        /// The node has accepted the picture, or has sent a request for it.
        var isBegun = false
        /// The node has read the last byte of the sources.
        var isFetched: Bool
        /// The target files have been truncated, so that no bytes of an earlier attempt remain.
        var isEmpty = false
        /// The origin is checking the attempt's results.
        var isEnding = false
    }

    struct Refusal: Error { var reason: String }

    /// Criteria for finding a node for the picture.
    struct Search {
        var since: ContinuousClock.Instant
        var refusers: Set<String>
        var only: String?

        func mayAsk(_ node: String) -> Bool { (only == nil || only == node) && !refusers.contains(node) }
    }

    private struct State {
        var attempt: Attempt?
        /// Nodes that fell silent after they had read the whole picture.
        var lost: [String] = []
        /// Nodes that refused the picture, and when they may be asked again.
        var refusers: [String: ContinuousClock.Instant] = [:]
        /// When the picture began to wait for a node.
        var waits = ContinuousClock.now
        var isOver = false
    }

    /// Maximum number of nodes that may fall silent while they have the picture. After that, this node no longer offers
    /// the picture, because the picture may crash every node.
    static let mostLosses = 3
    private static let refusal = Duration.seconds(30)

    let key: LentKey
    let picture: LentPicture
    /// The only node that may be asked; nil means any node.
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

    /// Index of the last source that is not empty.
    private var lastSource: Int? { picture.bytes.sizes.lastIndex { $0 > 0 } }

    // MARK: - Finding a node

    /// The criteria of the current search. Nil while there is an attempt, and after the loan has ended.
    var search: Search? {
        state.withLock { state in
            guard state.attempt == nil, !state.isOver else { return nil }
            state.refusers = state.refusers.filter { $0.value > .now }
            return Search(since: state.waits, refusers: Set(state.refusers.keys), only: only)
        }
    }

    /// Creates an attempt for the node to which the picture is being offered, and returns the attempt's token. Returns
    /// nil if there is an attempt already, or the loan has ended.
    func attempt(by node: String) -> String? {
        state.withLock { state in
            guard state.attempt == nil, !state.isOver else { return nil }
            let token = Token.made()
            state.attempt = Attempt(node: node, token: token, isFetched: lastSource == nil)
            return token
        }
    }

    /// Records that the node has accepted. Returns false if the attempt is over. Calls `announce` if this is the
    /// attempt's first sign of life.
    func begins(_ token: String, announce: (_ node: String) -> Void) -> Bool {
        state.withLock { Self.has(token, by: nil, &$0, announce) }
    }

    /// Drops the attempt with this token if it has not begun. Returns false if the attempt has begun, or if the current
    /// attempt has another token.
    func isNotBegun(_ token: String) -> Bool {
        state.withLock { state in
            guard state.attempt?.token == token, state.attempt?.isBegun == false else { return false }
            state.attempt = nil
            return true
        }
    }

    func isRefused(by node: String) { state.withLock { $0.refusers[node] = .now + Self.refusal } }

    /// If the attempt's node has been silent for longer than `patience`, drops the attempt and returns the node.
    func isLost(after patience: Duration) -> String? {
        state.withLock { state in
            guard let attempt = state.attempt, attempt.isBegun, !attempt.isEnding, attempt.seen + patience < .now else {
                return nil
            }
            (state.attempt, state.waits) = (nil, .now)
            // A picture can't have crashed a node that never read the whole picture.
            if attempt.isFetched { state.lost.append(attempt.node) }
            return attempt.node
        }
    }

    /// The node that is fetching the sources, or has been offered the picture.
    var fetcher: String? {
        state.withLock { state in state.attempt.flatMap { $0.isFetched ? nil : $0.node } }
    }

    func mayBeSilent() { state.withLock { $0.attempt?.seen = .now } }

    /// The nodes that fell silent while they had the picture; nil if there are fewer than `mostLosses`.
    var dangerousTo: [String]? {
        state.withLock { $0.lost.count < Self.mostLosses ? nil : $0.lost }
    }

    // MARK: - Requests of a node

    /// Drops the attempt, because its node gives the picture back. The attempt does not count as a loss. Returns false
    /// if the attempt is not the current attempt, or if its results are being checked.
    func leave(_ token: String, by node: String) -> Bool {
        state.withLock { state in
            guard Self.has(token, by: node, &state), state.attempt?.isEnding == false else { return false }
            (state.attempt, state.waits) = (nil, .now)
            return true
        }
    }

    /// Whether the token belongs to the node's current attempt. If so, the request counts as a sign of life.
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

    /// Reads a piece; `isLast` marks the last piece of the last source.
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

    /// Writes a piece of a result. Returns false if the attempt is not the current attempt, or if its results are being
    /// checked.
    func write(_ bytes: [UInt8], _ index: Int, at offset: Int64, _ token: String, by node: String) throws -> Bool {
        guard targets.indices.contains(index), bytes.count <= Piece.most, offset >= 0,
            offset <= picture.limits.maxResult - Int64(bytes.count)
        else { throw Refusal(reason: "the piece is larger than allowed") }
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

    /// Begins the check of the results. Until the check has finished, the node can't write to the results or give the
    /// picture back, and the attempt can't time out.
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

    /// Throws unless the received files match the digests that the node has sent.
    func check(_ digests: [FileDigest]) throws {
        guard digests.count == targets.count else {
            throw Refusal(reason: "the number of results differs from the number of outputs")
        }
        for (target, digest) in zip(targets, digests) {
            guard try FileDigest(of: target) == digest else { throw Refusal(reason: "a result is incomplete") }
        }
    }

    /// The result's outputs. If the origin wants an output's hash, the output gets the hash of the received file.
    func outputs(of result: LentResult) -> [RenderedOutput] {
        zip(picture.outputs, zip(result.outputs, result.digests)).map { wanted, made in
            var (output, digest) = made
            output.hash = wanted.wantsHash ? digest.sha256 : nil
            return output
        }
    }

    /// Ends the loan. Returns the node that had the picture at this moment, if any.
    func end() -> String? {
        state.withLock { state in
            state.isOver = true
            return state.attempt?.node
        }
    }
}
