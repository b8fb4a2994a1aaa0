import Synchronization

/// The body of an answer that is sent as it grows. A client that does not read as fast is closed, and may come again.
final class HTTPStream: Sendable {
    private struct State {
        /// Streams share what is written to all of them.
        var waiting: [[UInt8]] = []
        var bytes = 0
        /// How many bytes of the first piece have been sent.
        var sent = 0
        var isOver = false
        var wake: (@Sendable () -> Void)?
    }

    /// In bytes. A client that leaves more unread is closed.
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

    /// The bytes to send, at most so many. Nil is the end.
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
