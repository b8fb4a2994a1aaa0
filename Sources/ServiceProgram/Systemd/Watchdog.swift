import Dispatch

/// Asks each station in turn, and pings the service manager (`WatchdogSec=`) once all stations have answered. If a
/// station never answers, the pings stop, and the manager restarts the daemon.
///
/// No station may wait for a disk: a mount that hangs is no reason to restart the daemon.
package actor Watchdog: QueueActor {
    /// A part of the daemon that answers as long as it is not stuck.
    package struct Station: Sendable {
        let name: String
        let ask: @Sendable (_ answer: @escaping @Sendable () -> Void) -> Void

        package init(name: String, ask: @escaping @Sendable (_ answer: @escaping @Sendable () -> Void) -> Void) {
            (self.name, self.ask) = (name, ask)
        }
    }

    package nonisolated let executor = QueueExecutor("pipelined.watchdog")
    private let stations: [Station]
    private let ping: @Sendable () -> Void
    /// The station that the watchdog has asked, and that has not answered yet.
    private var awaited: Station?
    private var rounds = 0
    /// The time until the watchdog logs a missing answer: a quarter of the interval, so that the log line precedes the
    /// end of the daemon.
    private var patience: Duration?
    private var timer: (any DispatchSourceTimer)?

    package init(_ stations: [Station], ping: @escaping @Sendable () -> Void) {
        (self.stations, self.ping) = (stations, ping)
    }

    /// Asks all stations now, and from then on twice in each `interval`.
    package nonisolated func begin(_ interval: Duration) { async { $0.start(interval) } }

    private func start(_ interval: Duration) {
        patience = interval / 4
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.assumeIsolated { $0.round() } }
        timer.schedule(deadline: .now(), repeating: (interval / 2).dispatch, leeway: (interval / 20).dispatch)
        timer.activate()
        self.timer = timer
    }

    /// Asks all stations in turn, unless a station from the last round has not answered yet.
    package nonisolated func ask() { async { $0.round() } }

    private func round() {
        guard awaited == nil else { return }
        rounds += 1
        ask(stations[...])
        guard let patience else { return }
        after(patience.dispatch) { [rounds] in $0.complain(of: rounds) }
    }

    private func complain(of round: Int) {
        guard round == rounds, let awaited else { return }
        Log.failure("\(awaited.name) does not answer: the service manager gets no watchdog ping")
    }

    private func ask(_ left: ArraySlice<Station>) {
        awaited = left.first
        guard let next = left.first else { return ping() }
        next.ask { [self] in async { $0.ask(left.dropFirst()) } }
    }
}
