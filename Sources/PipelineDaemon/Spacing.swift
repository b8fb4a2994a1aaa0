import Dispatch
import Glibc

/// In a burst, keeps apart what has a price for each time, so that there are several to share it. Nothing waits when little happens.
struct Spacing {
    /// Nanoseconds.
    private let least: UInt64
    private var latest: UInt64 = 0

    init(milliseconds: UInt64) { least = milliseconds * 1_000_000 }

    /// Where nothing else is to be done a timer would cost more than to wait here.
    mutating func keep() {
        let (now, next) = (DispatchTime.now().uptimeNanoseconds, latest + least)
        if now < next { usleep(UInt32((next - now) / 1000)) }
        latest = max(now, next)
    }

    /// The next need not wait.
    mutating func forget() { latest = 0 }
}
