import CVips
import Synchronization

struct Cancelled: Error {}

/// Cancels the current job. The thread that reads messages calls `begin` and `cancel`; the rendering thread calls the
/// other methods.
final class Cancellation: Sendable {
    /// Progress of a render, over all its evaluations.
    let progress: RenderProgress

    private struct State {
        var cancelled = false
        /// Address of the image that is being evaluated, or 0. The address is stored as a number because pointers are
        /// not `Sendable`. The image stays alive while its address is stored here.
        var evaluated: UInt = 0
    }

    private let state = Mutex(State())

    init(progress: RenderProgress) { self.progress = progress }

    /// Clears an earlier cancel request before a new picture starts.
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

    /// Runs `body`, which evaluates `picture`, and lets `cancel` stop the evaluation. Throws `Cancelled` after a cancel
    /// request even if `body` succeeds, because encoders and whole-picture decoders report success when they are
    /// stopped. `encoding` is the work that the encoder does after the evaluation's last pixel. Pass it for each
    /// evaluation that `OpenPicture.evaluations` counts. If `encoding` is nil, the evaluation's progress is not
    /// reported.
    func guarding<Result>(
        _ picture: Picture, encoding: Double? = nil, _ body: () throws -> Result
    ) throws -> Result {
        let image = UInt(bitPattern: picture.image)
        // Calls may be nested: each frame of an animation is evaluated while the animation itself is evaluated. So
        // restore the outer image at the end.
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
