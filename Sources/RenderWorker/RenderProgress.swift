import CVips
import Synchronization

/// The progress of the render under way, from libvips' signals while pixels flow. It is reported now and then, and only
/// for a render that takes a while. One figure covers all evaluations of a render, and never goes back. Some encoders
/// begin when they have all pixels, and say nothing meanwhile: their share is left open, and the supervisor estimates
/// it.
final class RenderProgress: Sendable {
    private struct State {
        var pixels: Int64 = 0
        /// The work of all evaluations. The pixels of one count as 1.
        var work = 1.0
        /// The work of the finished evaluations.
        var over = 0.0
        /// The work that follows the pixels of the current evaluation.
        var encoding = 0.0
        var toldAt = ContinuousClock.now
        var told: Int64 = 0
        var isFollowing = false
    }

    private static let beat = Duration.milliseconds(200)

    private let state = Mutex(State())
    private let tell: @Sendable (_ done: Int64, _ total: Int64) -> Void

    /// `tell` is called on libvips' threads.
    init(tell: @escaping @Sendable (_ done: Int64, _ total: Int64) -> Void) { self.tell = tell }

    /// A render begins. It reads so many pixels in so many evaluations; `encoding` is the work of all encoders after
    /// the last pixel.
    func begin(pixels: Int64, evaluations: Int, encoding: Double) {
        state.withLock { $0 = State(pixels: pixels, work: Double(max(1, evaluations)) + encoding) }
    }

    /// Runs `body`, which evaluates `picture`. After the last pixel it takes `encoding` times as long again. An
    /// evaluation within another, as that of a frame, is part of that.
    func following<Result>(_ picture: Picture, encoding: Double, _ body: () throws -> Result) rethrows -> Result {
        let isWithin = state.withLock { state in
            defer { state.isFollowing = true }
            if !state.isFollowing { state.encoding = encoding }
            return state.isFollowing
        }
        if isWithin { return try body() }
        let this = Unmanaged.passUnretained(self).toOpaque()
        // libvips may end without `eval` for the last pixels.
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

    /// So much work is over that libvips knows nothing of.
    func passed(_ work: Double) {
        reached(work)
        state.withLock { $0.over += work }
    }

    /// So much of the present work is done.
    func reached(_ work: Double) { reached(work, after: .zero) }

    private static func reached(_ fraction: Double, _ progress: VipsProgress, _ this: UnsafeMutableRawPointer?) {
        guard let this else { return }
        let time = Duration.seconds(g_timer_elapsed(progress.start, nil))
        Unmanaged<RenderProgress>.fromOpaque(this).takeUnretainedValue().reached(fraction, after: time)
    }

    private func reached(_ fraction: Double, after time: Duration) {
        let news = state.withLock { state -> (done: Int64, total: Int64)? in
            let now = ContinuousClock.now
            // An encoder that begins after the last pixel says nothing until it ends, which may be long.
            let isLast = fraction >= 1 && time * state.encoding >= Self.beat
            guard state.pixels > 0, isLast || now - state.toldAt >= Self.beat else { return nil }
            let part = (state.over + fraction) / state.work
            let done = Int64(Double(state.pixels) * min(1, part))
            guard done > state.told else { return nil }
            (state.toldAt, state.told) = (now, done)
            return (done, state.pixels)
        }
        if let news { tell(news.done, news.total) }
    }
}
