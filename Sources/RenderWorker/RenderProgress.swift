import CVips
import Synchronization

/// Progress of the current render, derived from libvips' signals. The worker reports progress at intervals of `beat`,
/// so a fast render reports nothing. The reported number covers all evaluations of a render, and never decreases. An
/// encoder that begins after the last pixel reports nothing; the supervisor estimates the progress of that part.
final class RenderProgress: Sendable {
    private struct State {
        var pixels: Int64 = 0
        /// Total work of the render: 1 for the pixels of each evaluation, plus the work of all encoders.
        var work = 1.0
        /// Work of the finished evaluations.
        var over = 0.0
        /// Work of the encoder after the last pixel of the current evaluation.
        var encoding = 0.0
        var reportedAt = ContinuousClock.now
        var reported: Int64 = 0
        var isFollowing = false
    }

    private static let beat = Duration.milliseconds(200)

    private let state = Mutex(State())
    private let tell: @Sendable (_ done: Int64, _ total: Int64) -> Void

    /// libvips' threads call `tell`.
    init(tell: @escaping @Sendable (_ done: Int64, _ total: Int64) -> Void) { self.tell = tell }

    /// Starts a render. `pixels` is the total to report; `encoding` is the work of all encoders after the last pixel.
    func begin(pixels: Int64, evaluations: Int, encoding: Double) {
        state.withLock { $0 = State(pixels: pixels, work: Double(max(1, evaluations)) + encoding) }
    }

    /// Runs `body`, which evaluates `picture`, and follows its progress. Encoding after the last pixel takes `encoding`
    /// times as long as evaluating the pixels. A nested evaluation, such as a frame's, counts as part of the outer
    /// evaluation.
    func following<Result>(_ picture: Picture, encoding: Double, _ body: () throws -> Result) rethrows -> Result {
        let isWithin = state.withLock { state in
            defer { state.isFollowing = true }
            if !state.isFollowing { state.encoding = encoding }
            return state.isFollowing
        }
        if isWithin { return try body() }
        let this = Unmanaged.passUnretained(self).toOpaque()
        // libvips may send no `eval` signal for the last pixels, so `posteval` reports their end.
        cvips_on_evaluation(
            picture.image,
            { _, progress, this in
                guard let progress = progress?.pointee, progress.tpels > 0 else { return }
                RenderProgress.reached(Double(progress.npels) / Double(progress.tpels), progress, this)
            },
            { _, progress, this in
                if let progress = progress?.pointee { RenderProgress.reached(1, progress, this) }
            }, this)
        defer {
            cvips_off_evaluation(picture.image, this)
            state.withLock {
                $0.over += 1 + encoding
                $0.isFollowing = false
            }
        }
        return try body()
    }

    /// Adds and reports work that was finished outside libvips.
    func passed(_ work: Double) {
        reached(work)
        state.withLock { $0.over += work }
    }

    /// Reports how much of the current work is done.
    func reached(_ work: Double) { reached(work, after: .zero) }

    private static func reached(_ fraction: Double, _ progress: VipsProgress, _ this: UnsafeMutableRawPointer?) {
        guard let this else { return }
        let time = Duration.seconds(g_timer_elapsed(progress.start, nil))
        Unmanaged<RenderProgress>.fromOpaque(this).takeUnretainedValue().reached(fraction, after: time)
    }

    private func reached(_ fraction: Double, after time: Duration) {
        let news = state.withLock { state -> (done: Int64, total: Int64)? in
            let now = ContinuousClock.now
            // If the encoder will now work for longer than a beat without a report, don't wait for the interval to
            // pass.
            let isLast = fraction >= 1 && time * state.encoding >= Self.beat
            guard state.pixels > 0, isLast || now - state.reportedAt >= Self.beat else { return nil }
            let part = (state.over + fraction) / state.work
            let done = Int64(Double(state.pixels) * min(1, part))
            guard done > state.reported else { return nil }
            (state.reportedAt, state.reported) = (now, done)
            return (done, state.pixels)
        }
        if let news { tell(news.done, news.total) }
    }
}
