import DaemonRuntime
import JobLedger
import JobModel
import PictureFiles
import PipelineModel
import Synchronization
import TestTools
import Testing

@testable import DaemonConfiguration
@testable import JobFlow

@Suite("The clock that decides the age of files")
struct AgeClockTests {
    /// A clock whose time the test sets.
    @Coordination
    private final class HandClock {
        var reading = AgeClock.Reading(time: 1_800_000_000, uptime: 100, isSynchronised: false)

        func pass(days: Double, machineIsOff: Bool = false) {
            reading.time += days * 86_400
            reading.uptime = machineIsOff ? 10 : reading.uptime + days * 86_400
        }
    }

    private func with(
        _ settings: String = "", _ body: @Coordination @Sendable (OwnersFixture, HandClock, AgeClock) throws -> Void
    ) async throws {
        try await OwnersFixture.with(settings) { (fixture: OwnersFixture) async throws -> Void in
            try Coordination.sync {
                let hand = HandClock()
                let clock = AgeClock(fixture.ledger, fixture.owners.configuration) { hand.reading }
                try clock.begin()
                try body(fixture, hand, clock)
            }
        }
    }

    @Test("a clock that jumps ahead is doubted, with a message, until someone sets it right; uptime is no jump")
    func jump() async throws {
        try await with { _, hand, clock in
            let doubts = Mutex<[Bool]>([])
            let listener = EventListener()
            listener.heard = { [unowned clock] _ in doubts.withLock { $0.append(clock.doubt != nil) } }
            clock.events = listener
            #expect(clock.now == 1_800_000_000)
            hand.pass(days: 400)
            #expect(clock.now != nil)
            hand.pass(days: 30, machineIsOff: true)
            #expect(clock.now != nil && clock.doubt == nil)
            hand.pass(days: 5 * 365, machineIsOff: true)
            #expect(clock.now == nil)
            #expect(clock.doubt?.contains("nothing is removed by its age; set the clock, or, if it is right,") == true)
            #expect(clock.now == nil)
            hand.pass(days: -5 * 365)
            #expect(clock.now != nil && clock.doubt == nil)
            #expect(doubts.withLock { $0 } == [true, false])
            withExtendedLifetime(listener) {}
        }
    }

    @Test("a clock that the system has synchronised is believed, and so is a clock that the user confirms")
    func believed() async throws {
        try await with { _, hand, clock in
            _ = clock.now
            hand.pass(days: 365, machineIsOff: true)
            #expect(clock.now == nil)
            hand.reading.isSynchronised = true
            #expect(clock.now == hand.reading.time && clock.doubt == nil)
            hand.reading.isSynchronised = false
            #expect(clock.now == hand.reading.time)
            hand.pass(days: 365, machineIsOff: true)
            #expect(clock.now == nil)
            clock.confirm()
            #expect(clock.now == hand.reading.time && clock.doubt == nil)
        }
    }

    @Test("a machine without a battery clock starts in 1970, and is believed once its clock is set")
    func battery() async throws {
        try await with { _, hand, clock in
            _ = clock.now
            let time = hand.reading.time
            hand.reading = AgeClock.Reading(time: 10, uptime: 10, isSynchronised: false)
            #expect(clock.now == 10)
            hand.reading = AgeClock.Reading(time: time + 86_400, uptime: 20, isSynchronised: false)
            #expect(clock.now == time + 86_400)
        }
    }

    @Test("the next start knows the latest time; ClockLeap= limits how far the clock may be ahead of it")
    func remembered() async throws {
        try await with("[Keep]\nClockLeap=1d\n") { fixture, hand, clock in
            _ = clock.now
            #expect(fixture.ledger.flush(seconds: 30))
            let next = AgeClock(fixture.ledger, fixture.owners.configuration) { hand.reading }
            try next.begin()
            // Ten seconds are too little for another record, so the ledger still has the earlier time.
            hand.reading.time += 10
            #expect(next.now == 1_800_000_010)
            #expect(fixture.ledger.flush(seconds: 30))
            #expect(try fixture.ledger.believedTime() == 1_800_000_000)
            hand.reading.time -= 10
            hand.pass(days: 1, machineIsOff: true)
            #expect(next.now != nil)
            hand.pass(days: 1.1, machineIsOff: true)
            #expect(next.now == nil)
        }
    }

    @Test("the ledger records the time whenever it has moved by an hour, in either direction")
    func recorded() async throws {
        try await with { fixture, hand, clock in
            @Coordination func recorded() throws -> Double? {
                _ = clock.now
                #expect(fixture.ledger.flush(seconds: 30))
                return try fixture.ledger.believedTime()
            }
            var times = [try recorded()]
            for seconds in [3599.0, 1, 3599] {
                hand.reading.time += seconds
                times.append(try recorded())
            }
            hand.reading.time = 1_799_999_000
            hand.reading.isSynchronised = true
            times.append(try recorded())
            #expect(times == [1_800_000_000, 1_800_000_000, 1_800_003_600, 1_800_003_600, 1_799_999_000])
        }
    }

    @Test("a reboot lets the clock advance by ClockLeap= at most, not even a second more")
    func leap() async throws {
        try await with("[Keep]\nClockLeap=1d\n") { _, hand, clock in
            _ = clock.now
            hand.pass(days: 1, machineIsOff: true)
            hand.reading.time += 0.5
            #expect(clock.now == nil)
            hand.reading.time -= 0.5
            #expect(clock.now == 1_800_086_400)
        }
    }

    @Test("files that arrived while the machine had no clock age from the moment it has one")
    func redated() async throws {
        try await OwnersFixture.with("[Keep]\nFailed=90d\n") { (fixture: OwnersFixture) async throws -> Void in
            let path = "\(fixture.places.failed)/r/1.png"
            let job = try fixture.ended(1, .failed, at: path)
            #expect(fixture.insert([job]))
            let kept = KeptMarks(recipe: "r", path: path, file: job.file)
            fixture.ledger.recordDisposal(of: [(1, path)], keeping: [1: kept]) {}
            #expect(fixture.ledger.flush(seconds: 30))
            let change = "l.execute('UPDATE kept SET time = 10')"
            let script = "import sqlite3, sys\nwith sqlite3.connect(sys.argv[1]) as l: \(change)"
            #expect(try await Python.run(script, fixture.places.ledger).status == 0)
            Coordination.sync { fixture.owners.keeping.look() }
            while try fixture.ledger.oldestKept(in: .failed) == 10 { await fixture.settle() }
            #expect(fixture.exists(path))
        }
    }
}
