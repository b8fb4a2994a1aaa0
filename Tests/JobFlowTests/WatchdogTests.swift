import Dispatch
import OperationGraph
import PipelineModel
import ServiceProgram
import Synchronization
import Testing

@testable import JobFlow

struct WatchdogTests {
    @Test("Nothing is reported while one station is stuck, and reports resume when it answers")
    func stuck() async throws {
        let asked = Counter()
        let pings = Counter()
        let first = Watchdog.Station(name: "the first") { answer in
            asked.add()
            answer()
        }
        let queue = DispatchQueue(label: "stuck")
        let watchdog = Watchdog([first, .queue("the second", queue)]) { pings.add() }
        watchdog.ask()
        await pings.reaches(1)

        queue.suspend()
        watchdog.ask()
        await asked.reaches(2)
        // The current round has not finished, so the watchdog does not ask the stations again.
        watchdog.ask()
        watchdog.ask()
        queue.resume()
        await pings.reaches(2)
        #expect(asked.count == 2)
        watchdog.ask()
        await pings.reaches(3)
    }

    @Test("The event loop answers, and so does an operation queue that is paused and full")
    func stations() async throws {
        let pings = Counter()
        let operations = GatedQueue("render", limit: .count(0), automatic: { 1 })
        operations.pause(reason: nil)
        let watchdog = Watchdog([try .readyLoop(), Watchdog.Station(name: "render") { operations.ask($0) }]) {
            pings.add()
        }
        for round in 1...3 {
            watchdog.ask()
            await pings.reaches(round)
        }
        #expect(pings.count == 3)
    }
}

private final class Counter: Sendable {
    private struct State {
        var count = 0
        var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }

    func add() {
        let met = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.count += 1
            guard let waiter = state.waiter, state.count >= waiter.count else { return nil }
            state.waiter = nil
            return waiter.continuation
        }
        met?.resume()
    }

    func reaches(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.count < count { state.waiter = (count, continuation) }
                return state.count >= count
            }
            if isThere { continuation.resume() }
        }
    }
}
