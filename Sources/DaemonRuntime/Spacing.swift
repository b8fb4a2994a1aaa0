import Dispatch
import Glibc

/// In a burst, keeps apart what has a price for each time, so that there are several to share it. Nothing waits when little happens.
package struct Spacing {
    // Nanoseconds.
    private static let least: UInt64 = 5_000_000
    /// As long as others are on their way, which is looked after now and then.
    private static let most: UInt64 = 40_000_000
    private static let look: UInt64 = 10_000_000
    private var latest: UInt64 = 0

    package init() {}

    /// Where nothing else is to be done a timer would cost more than to wait here.
    package mutating func keep(while others: () -> Bool) {
        var (now, next) = (DispatchTime.now().uptimeNanoseconds, latest + Self.least)
        while now < next {
            usleep(UInt32((next - now) / 1000))
            now = max(next, DispatchTime.now().uptimeNanoseconds)
            if now + Self.look <= latest + Self.most, others() { next = now + Self.look }
        }
        latest = now
    }

    /// The next need not wait.
    package mutating func forget() { latest = 0 }
}
