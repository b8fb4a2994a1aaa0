import Glibc
import PipelineModel
import Synchronization
import SystemCalls
import WorkerProtocol

/// A picture that is lent, and the attempt that has it. After its end nothing is written to its files.
final class Lent: Sendable {
    struct Attempt {
        var node: String
        var token: String
        /// When it last showed life.
        var seen = ContinuousClock.now
        /// Its results are being looked at.
        var isEnding = false
    }

    enum Begun {
        case yes
        case busy
        /// So many nodes have been lost with it that no other gets it.
        case dangerous([String])
    }

    struct Refusal: Error { var reason: String }

    private struct State {
        var attempt: Attempt?
        /// The nodes that have begun.
        var nodes: [String] = []
        var isOver = false
        /// When it was offered last: the stream has it, as far as is known.
        var offered: ContinuousClock.Instant?
    }

    static let mostAttempts = 3

    let key: LentKey
    let picture: LentPicture
    private let sources: [Descriptor]
    private let targets: [Descriptor]
    private let state = Mutex(State())

    init(_ key: LentKey, _ picture: LentPicture, sources: [Descriptor], targets: [Descriptor]) {
        (self.key, self.picture, self.sources, self.targets) = (key, picture, sources, targets)
    }

    var subject: String { Subject.job(key, picture.priority) }

    /// An attempt that has shown no life for so long makes room for another. `announce` is called before anything else
    /// is said of it.
    func begin(_ node: String, _ token: String, patience: Duration, announce: () -> Void) throws -> Begun {
        try state.withLock { state in
            guard !state.isOver else { return .busy }
            if var present = state.attempt {
                if present.token == token {
                    present.seen = .now
                    state.attempt = present
                    return .yes
                }
                guard !present.isEnding, present.seen + patience < .now else { return .busy }
            }
            guard state.nodes.count < Self.mostAttempts else { return .dangerous(state.nodes) }
            for target in targets { try target.empty() }
            state.nodes.append(node)
            state.attempt = Attempt(node: node, token: token)
            announce()
            return .yes
        }
    }

    /// The attempt gives it up, which is no node's loss. Returns false when it does not have it.
    func leave(_ token: String) -> Bool {
        state.withLock { state in
            guard Self.has(token, &state), state.attempt?.isEnding == false else { return false }
            state.attempt = nil
            state.nodes.removeLast()
            return true
        }
    }

    /// Whether this attempt has it; that shows life.
    func has(_ token: String, announce: () -> Void = {}) -> Bool {
        state.withLock { state in
            guard Self.has(token, &state) else { return false }
            announce()
            return true
        }
    }

    private static func has(_ token: String, _ state: inout State) -> Bool {
        guard !state.isOver, state.attempt?.token == token else { return false }
        state.attempt?.seen = .now
        return true
    }

    func read(_ index: Int, at offset: Int64) throws -> [UInt8] {
        let sizes = picture.bytes.sizes
        guard sources.indices.contains(index), (0...sizes[index]).contains(offset) else {
            throw Refusal(reason: "there is no such piece")
        }
        return try sources[index].piece(at: offset, Int(min(Int64(Piece.most), sizes[index] - offset)))
    }

    /// Returns false when the attempt does not have it any more.
    func write(_ bytes: [UInt8], _ index: Int, at offset: Int64, _ token: String) throws -> Bool {
        guard targets.indices.contains(index), bytes.count <= Piece.most, offset >= 0,
            offset <= picture.limits.maxResult - Int64(bytes.count)
        else { throw Refusal(reason: "the piece is larger than what may be written") }
        return try state.withLock { state in
            guard Self.has(token, &state), state.attempt?.isEnding == false else { return false }
            try targets[index].put(bytes, at: offset)
            return true
        }
    }

    /// From now on nothing is written, and no other attempt begins, until the results have been looked at.
    func beginsEnd(_ token: String) -> Bool {
        state.withLock { state in
            guard Self.has(token, &state), state.attempt?.isEnding == false else { return false }
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

    var isOffered: Bool { state.withLock { $0.offered != nil } }

    func offered() { state.withLock { $0.offered = .now } }

    /// An attempt has it, whether or not it shows life.
    var isBegun: Bool { state.withLock { $0.attempt != nil } }

    /// Nobody has shown life for so long, neither an attempt nor a node that could begin one.
    func isForgotten(for patience: Duration) -> Bool {
        state.withLock { state in
            guard let offered = state.offered, !state.isOver, state.attempt?.isEnding != true else { return false }
            return max(offered, state.attempt?.seen ?? offered) + patience < .now
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
