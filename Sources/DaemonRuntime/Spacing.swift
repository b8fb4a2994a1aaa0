import Dispatch
import Glibc

/// Keeps a minimum time between steps that have a fixed cost, such as commits, so that the requests of a burst share
/// one step. Outside a burst, no step waits.
package struct Spacing {
    // All times are in nanoseconds.
    private static let least: UInt64 = 5_000_000
    /// Maximum time between two steps. During a burst, the time grows from `least` up to this value as long as more
    /// requests are about to arrive, so that these requests share the next step.
    private static let most: UInt64 = 40_000_000
    private static let look: UInt64 = 10_000_000
    private var latest: UInt64 = 0

    package init() {}

    /// Waits until the next step may run. `others` returns whether more requests are about to arrive. Blocks the
    /// thread: a timer would cost more, and the caller's queue has nothing else to do.
    package mutating func keep(while others: () -> Bool) {
        var (now, next) = (DispatchTime.now().uptimeNanoseconds, latest + Self.least)
        while now < next {
            usleep(UInt32((next - now) / 1000))
            now = max(next, DispatchTime.now().uptimeNanoseconds)
            if now + Self.look <= latest + Self.most, others() { next = now + Self.look }
        }
        latest = now
    }

    /// Lets the next step run without waiting.
    package mutating func forget() { latest = 0 }
}
