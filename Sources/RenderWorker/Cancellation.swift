import CVips
import Synchronization

/// The job under way was cancelled.
struct Cancelled: Error {}

/// Stops the job under way. Owned by the worker; the reading thread calls `cancel`, the rendering thread all else.
final class Cancellation: Sendable {
    /// Held by address, because a pointer may not cross threads; alive as long as it is registered here.
    private struct State {
        var cancelled = false
        var evaluated: UInt = 0
    }

    private let state = Mutex(State())

    /// A new job begins, cancelled already if its `cancel` came while it waited.
    func begin(cancelled: Bool) {
        state.withLock { $0 = State(cancelled: cancelled) }
    }

    func cancel() {
        state.withLock { state in
            state.cancelled = true
            if let image = UnsafeMutablePointer<VipsImage>(bitPattern: state.evaluated) {
                vips_image_set_kill(image, 1)
            }
        }
    }

    func check() throws {
        if state.withLock({ $0.cancelled }) { throw Cancelled() }
    }

    /// Runs `body`, which evaluates `picture`, so that `cancel` stops it. Encoders and decoders of whole pictures
    /// return success even then, so what was asked counts, not what they say.
    func guarding<Result>(_ picture: Picture, _ body: () throws -> Result) throws -> Result {
        try check()
        state.withLock { $0.evaluated = UInt(bitPattern: picture.image) }
        defer { state.withLock { $0.evaluated = 0 } }
        let result = Swift.Result { try body() }
        try check()
        return try result.get()
    }
}
