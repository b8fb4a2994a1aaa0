import CVips
import Synchronization

struct Cancelled: Error {}

/// Stops the job under way. The worker owns it. The reading thread calls `begin` and `cancel`, the rendering thread the
/// rest.
final class Cancellation: Sendable {
    /// Follows the evaluations of a render, whose number is known.
    let progress: RenderProgress

    private struct State {
        var cancelled = false
        /// An address, because a pointer may not cross threads. The picture lives as long as it is registered here.
        var evaluated: UInt = 0
    }

    private let state = Mutex(State())

    init(progress: RenderProgress) { self.progress = progress }

    /// Forgets former cancels, because a new picture comes.
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

    /// Runs `body`, which evaluates `picture`, so that `cancel` stops it. Encoders, and decoders of whole pictures,
    /// return success even then: the request counts, not their answer. An evaluation that `OpenPicture.evaluations`
    /// counts names the work of its `encoding`, and is followed.
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
