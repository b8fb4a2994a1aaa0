import DaemonRuntime
import JobLedger
import JobModel
import PipelineModel
import Synchronization
import TestTools
import Testing

@testable import JobFlow

@Suite("Recipes outside their hours")
struct RecipeHoursTests {
    private static let recipe = "[Recipe]\nHours=22-06\n[Output]\nChain=save\n"

    /// A clock that the test sets, in UTC.
    private final class Clock: Sendable {
        let hour = Mutex(12.0)
        func set(_ hour: Double) { self.hour.withLock { $0 = hour } }
    }

    private func at(_ clock: Clock, _ fixture: OwnersFixture, _ hour: Double) {
        clock.set(hour)
        Coordination.sync { fixture.owners.shortages.hours.look() }
    }

    private func with(_ body: (OwnersFixture, Clock) async throws -> Void) async throws {
        let clock = Clock()
        try await OwnersFixture.with(recipe: Self.recipe) { (fixture: OwnersFixture) async throws -> Void in
            Coordination.sync {
                fixture.owners.shortages.hours.clock = RecipeHours.Clock(
                    now: { clock.hour.withLock { $0 } * 3600 }, minute: { Int($0 / 60) % 1440 })
            }
            try await body(fixture, clock)
        }
    }

    @Test("jobs wait outside the hours, with a reason, and are queued again when the hours begin")
    func border() async throws {
        try await with { (fixture: OwnersFixture, clock: Clock) async throws -> Void in
            #expect(fixture.insert([fixture.job(1), fixture.job(2)]))
            at(clock, fixture, 12)
            await fixture.until { fixture.owners.jobs.counts[.waiting] == 2 }
            let reason = "outside Hours=22-06 of recipe r; they begin at 22:00"
            #expect(try fixture.ledger.jobs([1, 2]).map(\.reason) == [reason, reason])
            #expect(try fixture.ledger.waiting().map(\.reason) == [reason])
            #expect(Coordination.sync { fixture.owners.shortages.problems } == [])
            // A job that arrives outside the hours waits, too.
            #expect(fixture.insert([fixture.job(3)]))
            Coordination.sync { fixture.owners.jobs.fill() }
            await fixture.until { fixture.owners.jobs.counts[.waiting] == 3 }
            at(clock, fixture, 22)
            await fixture.until { fixture.owners.jobs.counts[.queued] == 3 }
            #expect(try fixture.ledger.jobs([1]).map(\.reason) == [nil])
            // The jobs are in the window, and have not begun.
            await fixture.until { fixture.owners.jobs.count == 3 }
            at(clock, fixture, 30)
            await fixture.until { fixture.owners.jobs.counts[.waiting] == 3 && fixture.owners.jobs.isEmpty }
            // The clock is set back.
            at(clock, fixture, 29)
            await fixture.until { fixture.owners.jobs.counts[.queued] == 3 }
        }
    }

    @Test("jobs that wait for something else, other recipes and chains of users are left alone")
    func others() async throws {
        try await with { (fixture: OwnersFixture, clock: Clock) async throws -> Void in
            var (full, other, adHoc) = (fixture.job(1, .waiting), fixture.job(2), fixture.job(3))
            (full.waitReason, full.reason) = (.place, "no space in /out")
            other.order.recipe = "s"
            adHoc.order.adHoc = true
            #expect(fixture.insert([full, other, adHoc, fixture.job(4)]))
            at(clock, fixture, 12)
            await fixture.until { fixture.owners.jobs.counts[.waiting] == 2 }
            #expect(try fixture.ledger.jobs([1, 2, 3]).map(\.state) == [.waiting, .queued, .queued])
            at(clock, fixture, 23)
            await fixture.until { fixture.owners.jobs.counts[.waiting] == 1 }
            await fixture.settle()
            #expect(try fixture.ledger.jobs([1]).map(\.reason) == ["no space in /out"])
        }
    }
}
