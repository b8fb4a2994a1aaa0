import Synchronization

/// The body of an answer that is sent as it grows. A client that reads too slowly is closed, and may reconnect.
final class HTTPStream: Sendable {
    private struct State {
        /// Pieces that are written to several streams share their memory.
        var waiting: [[UInt8]] = []
        var bytes = 0
        /// How many bytes of the first piece have been sent.
        var sent = 0
        var isOver = false
        var wake: (@Sendable () -> Void)?
    }

    /// Maximum unread bytes; a client that leaves more is closed.
    private static let mostWaiting = 1 << 20

    private let state = Mutex(State())

    func write(_ piece: [UInt8]) {
        let wake = state.withLock { state in
            guard !state.isOver else { return nil as (@Sendable () -> Void)? }
            state.waiting.append(piece)
            state.bytes += piece.count
            if state.bytes > Self.mostWaiting { state.isOver = true }
            return state.wake
        }
        wake?()
    }

    func end() {
        let wake = state.withLock { state in
            state.isOver = true
            return state.wake
        }
        wake?()
    }

    /// Calls `wake` whenever there is something to send.
    func attach(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

    /// The next bytes to send, at most `most`; nil at the end.
    func next(most: Int) -> [UInt8]? {
        state.withLock { state in
            guard !state.isOver else { return nil }
            var piece: [UInt8] = []
            while let first = state.waiting.first, piece.count < most {
                let part = first[state.sent...].prefix(most - piece.count)
                piece += part
                state.sent += part.count
                if state.sent == first.count {
                    state.waiting.removeFirst()
                    state.sent = 0
                }
            }
            state.bytes -= piece.count
            return piece
        }
    }
}
