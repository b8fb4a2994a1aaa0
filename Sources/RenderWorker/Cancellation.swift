import CVips
import Synchronization

struct Cancelled: Error {}

/// Cancels the current job. The reading thread calls `begin` and `cancel`; the rendering thread calls the rest.
final class Cancellation: Sendable {
    /// Progress over all evaluations of a render.
    let progress: RenderProgress

    private struct State {
        var cancelled = false
        /// An address, because pointers may not cross threads. The picture stays alive while it is registered here.
        var evaluated: UInt = 0
    }

    private let state = Mutex(State())

    init(progress: RenderProgress) { self.progress = progress }

    /// Forgets earlier cancels before a new picture.
    func begin() {
        state.withLock { $0.cancelled = false }
    }

    func cancel() {
        state.withLock { state in
            state.cancelled = true
            if let image = UnsafeMutablePointer<VipsImage>(bitPattern: state.evaluated) {
                vips_image_set_kill(image, 1)
            }
        }
    }

    var isCancelled: Bool { state.withLock { $0.cancelled } }

    func check() throws {
        if isCancelled { throw Cancelled() }
    }

    /// Runs `body`, which evaluates `picture`, and lets `cancel` stop it. Encoders and whole-picture decoders report
    /// success even when stopped, so the cancel request decides, not their return value. Evaluations that
    /// `OpenPicture.evaluations` counts pass the work of their `encoding`; their progress is followed.
    func guarding<Result>(
        _ picture: Picture, encoding: Double? = nil, _ body: () throws -> Result
    ) throws -> Result {
        let image = UInt(bitPattern: picture.image)
        // A frame is evaluated within the evaluation of its animation.
        let outer = try state.withLock { state in
            if state.cancelled { throw Cancelled() }
            defer { state.evaluated = image }
            return state.evaluated
        }
        defer { state.withLock { $0.evaluated = outer } }
        let result = Swift.Result {
            try encoding.map { try progress.following(picture, encoding: $0, body) } ?? body()
        }
        try check()
        return try result.get()
    }
}
