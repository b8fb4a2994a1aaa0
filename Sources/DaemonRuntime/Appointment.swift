import Dispatch
import ServiceProgram

/// Fires at the earliest requested time.
///
/// Uses two timers. One follows the wall clock, which advances while the machine sleeps. The other counts elapsed time,
/// so that setting the wall clock back does not delay the call.
@Coordination
package final class Appointment {
    private let byClock: any DispatchSourceTimer
    private let byTime: any DispatchSourceTimer
    private var time = Double.infinity

    /// `call` receives the seconds by which the wall clock was set back after `make(at:)`, or 0.
    package init(
        now: @escaping @Sendable () -> Double = { Timestamp.now() },
        _ call: @escaping @Coordination @Sendable (Double) -> Void
    ) {
        byClock = DispatchSource.makeTimerSource(queue: Coordination.queue)
        byTime = DispatchSource.makeTimerSource(queue: Coordination.queue)
        self.now = now
        for timer in [byClock, byTime] {
            timer.setEventHandler { [unowned self] in Coordination.assumeIsolated { fire(call) } }
            timer.activate()
        }
    }

    private func fire(_ call: (Double) -> Void) {
        guard time < .infinity else { return }
        // The wall clock is adjusted continually, so `byTime` may fire slightly early by that clock.
        let early = time - now()
        time = .infinity
        call(early > Self.accuracy ? early : 0)
    }

    private let now: @Sendable () -> Double

    /// The wall clock counts as set back only if it was set back by more than this number of seconds.
    private static let accuracy = 1.0

    package func make(at time: Double) {
        guard time < self.time else { return }
        self.time = time
        let pause = DispatchTimeInterval.milliseconds(Int(min(max(0, time - now()), 1e9) * 1000) + 1)
        byClock.schedule(wallDeadline: .now() + pause)
        byTime.schedule(deadline: .now() + pause)
    }
}
