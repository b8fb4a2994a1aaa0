import Dispatch
import Glibc

/// In a burst, spaces steps that have a fixed cost, so that several share it. Without a burst, no step waits.
package struct Spacing {
    // Nanoseconds.
    private static let least: UInt64 = 5_000_000
    /// The longest pause, while others are on their way.
    private static let most: UInt64 = 40_000_000
    private static let look: UInt64 = 10_000_000
    private var latest: UInt64 = 0

    package init() {}

    /// Blocks the thread, because a timer would cost more and the queue has nothing else to do.
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
