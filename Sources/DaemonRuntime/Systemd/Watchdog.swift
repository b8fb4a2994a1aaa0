import Dispatch

/// Tells the service manager that work goes on (`WatchdogSec=`), but only once everything that work goes through has answered, one after
/// the other. One that never answers means that nothing will go on by itself: then nothing is told, and the manager starts another daemon.
///
/// It does not ask what may wait for a disk: a mount that hangs is no reason to end the daemon.
///
/// `@unchecked`: what changes is touched on `queue` alone.
package final class Watchdog: @unchecked Sendable {
    /// Something that answers as long as it is not stuck.
    package struct Station: Sendable {
        let name: String
        let ask: @Sendable (_ answer: @escaping @Sendable () -> Void) -> Void

        package init(name: String, ask: @escaping @Sendable (_ answer: @escaping @Sendable () -> Void) -> Void) {
            self.name = name
            self.ask = ask
        }
    }

    private let queue = DispatchQueue(label: "pipelined.watchdog")
    private let stations: [Station]
    private let ping: @Sendable () -> Void
    /// Whose answer is awaited.
    private var awaited: Station?
    private var rounds = 0
    /// A quarter of the interval: who is late is named while there is time for it.
    private var patience: Duration?
    private let timer: any DispatchSourceTimer

    package init(_ stations: [Station], ping: @escaping @Sendable () -> Void) {
        self.stations = stations
        self.ping = ping
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.round() }
    }

    deinit {
        // One that was never activated must not be let go of.
        timer.activate()
        timer.cancel()
    }

    /// Asks twice in each `interval`, beginning now.
    package func begin(_ interval: Duration) {
        queue.async { self.patience = interval / 4 }
        timer.schedule(deadline: .now(), repeating: (interval / 2).dispatch, leeway: (interval / 20).dispatch)
        timer.activate()
    }

    /// Asks all of them, unless one of the last round still owes its answer.
    package func ask() { queue.async { self.round() } }

    private func round() {
        guard awaited == nil else { return }
        rounds += 1
        ask(stations[...])
        guard let patience else { return }
        queue.asyncAfter(deadline: .now() + patience.dispatch) { [self, rounds] in
            guard rounds == self.rounds, let awaited else { return }
            Log.failure("\(awaited.name) does not answer: the service manager is not told that work goes on")
        }
    }

    private func ask(_ left: ArraySlice<Station>) {
        awaited = left.first
        guard let next = left.first else { return ping() }
        next.ask { [self] in queue.async { self.ask(left.dropFirst()) } }
    }
}
