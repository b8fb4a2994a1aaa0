import CSystemd
import Glibc

/// The service manager that started this process, if it wants notices: systemd, with `Type=notify` (sd_notify(3)).
package enum ServiceManager {
    package static let isListening = getenv("NOTIFY_SOCKET") != nil

    /// Sends these assignments, for example `READY=1`, in one message.
    package static func tell(_ assignments: String...) {
        guard isListening else { return }
        // Errors are ignored: a manager that no longer listens needs no notice.
        _ = sd_notify(0, assignments.joined(separator: "\n"))
    }

    /// Announces that the settings are being read again, until `READY=1`.
    package static func tellReloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        tell("RELOADING=1", "MONOTONIC_USEC=\(Int(time.tv_sec) * 1_000_000 + Int(time.tv_nsec) / 1000)")
    }

    /// Announces the stop, and the longest time that it takes, which may exceed the unit's `TimeoutStopSec=`.
    package static func tellStopping(within time: Duration) {
        tell("STOPPING=1", "EXTEND_TIMEOUT_USEC=\(Int(time / .microseconds(1)))")
    }

    /// The interval at which the manager wants pings (`WatchdogSec=`); nil if it wants none.
    package static var watchdogInterval: Duration? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }
}
