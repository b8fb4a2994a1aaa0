import Dispatch

/// Fires at the earliest requested time.
///
/// Uses two timers. One follows the wall clock, which goes on while the machine sleeps. The other counts elapsed time,
/// so that a clock set back delays nothing.
@Coordination
package final class Appointment {
    private let byClock: any DispatchSourceTimer
    private let byTime: any DispatchSourceTimer
    private var time = Double.infinity

    /// `call` gets the seconds by which the clock has been set back since the appointment was made, or 0.
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
        // The second timer may be slightly early by the wall clock, which is adjusted all the time.
        let early = time - now()
        time = .infinity
        call(early > Self.accuracy ? early : 0)
    }

    private let now: @Sendable () -> Double

    /// In seconds. Smaller differences are ignored.
    private static let accuracy = 1.0

    package func make(at time: Double) {
        guard time < self.time else { return }
        self.time = time
        let pause = DispatchTimeInterval.milliseconds(Int(min(max(0, time - now()), 1e9) * 1000) + 1)
        byClock.schedule(wallDeadline: .now() + pause)
        byTime.schedule(deadline: .now() + pause)
    }
}
