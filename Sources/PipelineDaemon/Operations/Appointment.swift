import Dispatch

/// A call at a time of day: of several that are asked for, at the earliest. Lives on the queue that it calls on.
///
/// Two timers. One follows the clock on the wall, which goes on while the machine sleeps. The other counts what has passed, so that a
/// clock that was set back delays nothing.
final class Appointment {
    private let byClock: any DispatchSourceTimer
    private let byTime: any DispatchSourceTimer
    private var time = Double.infinity

    /// `call` is told how far the clock has been set back since the appointment was made, in seconds; 0 when it was not.
    init(on queue: DispatchQueue, now: @escaping () -> Double = Timestamp.now, _ call: @escaping (Double) -> Void) {
        byClock = DispatchSource.makeTimerSource(queue: queue)
        byTime = DispatchSource.makeTimerSource(queue: queue)
        self.now = now
        for timer in [byClock, byTime] {
            timer.setEventHandler { [unowned self] in
                guard time < .infinity else { return }
                // The second may be a little early by the clock, which is kept right all the time.
                let early = time - now()
                time = .infinity
                call(early > Self.accuracy ? early : 0)
            }
            timer.activate()
        }
    }

    private let now: () -> Double

    /// In seconds. A difference so small is none.
    private static let accuracy = 1.0

    func make(at time: Double) {
        guard time < self.time else { return }
        self.time = time
        let pause = DispatchTimeInterval.milliseconds(Int(min(max(0, time - now()), 1e9) * 1000) + 1)
        byClock.schedule(wallDeadline: .now() + pause)
        byTime.schedule(deadline: .now() + pause)
    }
}
