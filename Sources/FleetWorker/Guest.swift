import Dispatch
import PipelineModel
import Synchronization
import SystemCalls
import WorkerProtocol

/// Another node's picture: this process fetches it, the supervisor renders it, and this process returns the results.
/// Requests to the origin block, so each guest sends them from a queue of its own.
final class Guest: Sendable {
    enum Phase { case offered, fetching, rendering, delivering, over }
    enum End { case delivered, withdrawn }

    private struct State {
        var phase = Phase.offered
        var progress: (done: Int64, total: Int64)?
        /// Whether this node is asking the origin if it still wants the picture, and has not received the answer.
        var asks = false
    }

    let id: Int
    let key: LentKey
    let picture: LentPicture
    let membership: FleetMembership
    let lines: Lines
    let attempt: String
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "pipelined.fleet.taken")
    private let ended: @Sendable (Guest, End) -> Void
    private let fetched: @Sendable (Guest) -> Void

    init(
        _ id: Int, _ key: LentKey, _ offer: Offer, _ membership: FleetMembership, _ lines: Lines,
        ended: @escaping @Sendable (Guest, End) -> Void, fetched: @escaping @Sendable (Guest) -> Void
    ) {
        (self.id, self.key, self.membership, self.lines) = (id, key, membership, lines)
        (picture, attempt) = (offer.picture, offer.attempt)
        (self.ended, self.fetched) = (ended, fetched)
    }

    var isOver: Bool { state.withLock { $0.phase == .over } }
    var pixels: (done: Int64, total: Int64)? { state.withLock { $0.progress } }

    func progress(_ done: Int64, _ total: Int64) {
        state.withLock { $0.progress = (done, total) }
        askWhetherWanted()
    }

    /// While the supervisor renders, sends the origin a sign of life, and asks whether the origin still wants the
    /// picture.
    func askWhetherWanted() {
        let asks = state.withLock { state in
            guard state.phase == .rendering, !state.asks else { return false }
            state.asks = true
            return true
        }
        guard asks else { return }
        queue.async { [self] in
            defer { state.withLock { $0.asks = false } }
            guard state.withLock({ $0.phase == .rendering }) else { return }
            work(ifNotWanted: .withdrawn) { try sayProgress() }
        }
    }

    func fetch(into files: [Descriptor]) {
        guard advance(from: .offered, to: .fetching) else { return }
        queue.async { [self] in
            work(ifNotWanted: .withdrawn) {
                guard files.count == picture.bytes.sizes.count else { throw GuestEnd.failed }
                for (index, file) in files.enumerated() { try read(index, into: file) }
                if advance(from: .fetching, to: .rendering) { fetched(self) }
            }
        }
    }

    func deliver(
        _ header: PictureHeader, _ outputs: [RenderedOutput], _ file: FetchedFile?, _ files: [Descriptor]
    ) {
        guard advance(from: .rendering, to: .delivering) else { return }
        queue.async { [self] in
            work(ifNotWanted: .delivered) {
                guard files.count == picture.outputs.count else { throw GuestEnd.failed }
                try send(header, outputs, file, files)
                end(.delivered)
            }
        }
    }

    /// Reports a failed rendering to the origin. Does nothing unless the picture is being rendered.
    func fail(_ failure: WorkerFailure) {
        guard advance(from: .rendering, to: .delivering) else { return }
        queue.async { [self] in
            work(ifNotWanted: .delivered) {
                try say(failure)
                end(.delivered)
            }
        }
    }

    /// Ends the attempt and informs the origin, which may then ask another node.
    func giveBack(because word: TakeAnswer.Word?, _ reason: String? = nil) {
        isVoid()
        if let line = lines.current { leave(on: line, because: word, reason) }
    }

    /// Marks the attempt as over, without informing the origin or the supervisor.
    func isVoid() { state.withLock { $0.phase = .over } }

    private func advance(from old: Phase, to new: Phase) -> Bool {
        state.withLock { state in
            guard state.phase == old else { return false }
            state.phase = new
            return true
        }
    }

    // MARK: - On the picture's queue

    private func work(ifNotWanted unwanted: End, _ body: () throws -> Void) {
        do {
            try body()
        } catch GuestEnd.notWanted {
            end(unwanted)
        } catch {
            giveBack(because: nil)
            ended(self, .withdrawn)
        }
    }

    /// Ends the attempt and calls `ended`, but does not inform the origin.
    private func end(_ outcome: End) {
        isVoid()
        ended(self, outcome)
    }
}
