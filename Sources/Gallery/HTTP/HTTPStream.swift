import Synchronization

/// A response body that is sent in pieces, as they are written. A client that reads too slowly is disconnected, and may
/// reconnect.
final class HTTPStream: Sendable {
    private struct State {
        /// Unsent pieces. Arrays share their memory, so a piece that is written to several streams exists once.
        var waiting: [[UInt8]] = []
        var bytes = 0
        /// The number of bytes of the first piece that have already been sent.
        var sent = 0
        var isOver = false
        var wake: (@Sendable () -> Void)?
    }

    /// Maximum unsent bytes. A client that reads more slowly is disconnected.
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

    /// Returns the next bytes to send, at most `most`; nil at the end of the stream.
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
