import Dispatch

/// A call at a time of day: of several that are asked for, at the earliest. Lives on the queue that it calls on.
final class Appointment {
    private let timer: any DispatchSourceTimer
    private var time = Double.infinity

    init(on queue: DispatchQueue, _ call: @escaping () -> Void) {
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [unowned self] in
            time = .infinity
            call()
        }
        timer.activate()
    }

    /// The clock on the wall counts: it may be set, and goes on while the machine sleeps.
    func make(at time: Double) {
        guard time < self.time else { return }
        self.time = time
        timer.schedule(wallDeadline: .now() + .milliseconds(Int(max(0, time - Timestamp.now()) * 1000) + 1))
    }
}
