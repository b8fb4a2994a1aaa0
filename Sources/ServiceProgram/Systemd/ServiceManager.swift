import CSystemd
import Glibc

/// The service manager that started this process: systemd, if the unit has `Type=notify` (sd_notify(3)).
package enum ServiceManager {
    package static let isListening = getenv("NOTIFY_SOCKET") != nil

    /// Sends these assignments, for example `READY=1`, in one message.
    package static func notify(_ assignments: String...) {
        guard isListening else { return }
        // Errors are ignored: a manager that no longer listens needs no notification.
        _ = sd_notify(0, assignments.joined(separator: "\n"))
    }

    /// Announces that the daemon is reloading its settings. Once the reload is done, `READY=1` must follow.
    package static func notifyReloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        notify("RELOADING=1", "MONOTONIC_USEC=\(Int(time.tv_sec) * 1_000_000 + Int(time.tv_nsec) / 1000)")
    }

    /// Announces that the daemon is stopping, and the maximum time that it needs. The time may exceed the unit's
    /// `TimeoutStopSec=`.
    package static func notifyStopping(within time: Duration) {
        notify("STOPPING=1", "EXTEND_TIMEOUT_USEC=\(Int(time / .microseconds(1)))")
    }

    /// The interval within which the manager expects a ping (`WatchdogSec=`); nil if the manager expects no pings.
    package static var watchdogInterval: Duration? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return .microseconds(Int64(clamping: microseconds))
    }
}
