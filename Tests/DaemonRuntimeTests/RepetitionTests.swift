import DaemonRuntime
import Testing

@Suite("Repetitions")
struct RepetitionTests {
    @Test("a need that ends and begins again before its timer fires has one timer")
    func once() {
        Coordination.sync {
            let clock = HandClock()
            let repetition = Repetition(after: { clock.timers.append($0) }, while: { clock.isNeeded }) {
                clock.calls += 1
            }
            repetition.begin()
            clock.isNeeded = false
            repetition.begin()
            clock.isNeeded = true
            repetition.begin()
            #expect(clock.timers.count == 1)
            clock.fire()
            #expect(clock.calls == 1 && clock.timers.count == 1)
            clock.isNeeded = false
            clock.fire()
            #expect(clock.calls == 1 && clock.timers.isEmpty)
        }
    }
}

/// A clock that keeps its timers until the test fires them.
@Coordination
private final class HandClock {
    var timers: [@Coordination @Sendable () -> Void] = []
    var isNeeded = true
    var calls = 0

    func fire() { timers.removeFirst()() }
}
