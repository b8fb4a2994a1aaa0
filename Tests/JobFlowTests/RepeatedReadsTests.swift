import DaemonRuntime
import JobModel
import PictureFiles
import PipelineModel
import ServiceProgram
import Synchronization
import Testing

@testable import JobFlow
@testable import JobLedger

@Suite("Repeated reads of the ledger")
struct RepeatedReadsTests {
    /// Refills the window as the owners do, and records the calls.
    @Coordination
    private final class Reader: ReadsDelegate {
        let jobs: JobQueue
        let told = AsyncStream<RepeatedReads.Missed>.makeStream()
        var changes = 0

        init(_ jobs: JobQueue) { self.jobs = jobs }

        func readAgain(_ missed: RepeatedReads.Missed) {
            jobs.fill()
            told.continuation.yield(missed)
        }

        func statusChanged() { changes += 1 }
    }

    @Test("all failed reads are repeated together, once")
    func together() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let reads = Coordination.sync { RepeatedReads(fixture.ledger) }
            let reader = Coordination.sync { Reader(fixture.owners.jobs) }
            Coordination.sync {
                reads.delegate = reader
                reads.missed(ended: [1])
                reads.missedBacklog()
                reads.missed(ended: [2])
            }
            var told = reader.told.stream.makeAsyncIterator()
            let first = await told.next()
            #expect(first?.ended == [1, 2] && first?.backlog == true)
            Coordination.sync { reads.missed(ended: [3]) }
            let second = await told.next()
            #expect(second?.ended == [3] && second?.backlog == false)
            await fixture.until { reader.changes == 2 }
        }
    }

    @Test("unreadable rows enter the window as soon as they can be read, and the problem is shown until then")
    func rows() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            #expect(fixture.insert([fixture.job(1)]))
            let reads = Coordination.sync { RepeatedReads(fixture.ledger) }
            let reader = Coordination.sync { Reader(fixture.owners.jobs) }
            let failures = ReadFailures { Coordination.async { reads.later() } }
            fixture.ledger.connect(failures)
            // Dropping the index that finds queued rows makes the ledger unreadable.
            let other = try Database(path: fixture.places.ledger)
            try other.run("DROP INDEX jobs_to_render")
            Coordination.sync {
                reads.delegate = reader
                fixture.owners.jobs.fill()
                #expect(fixture.owners.jobs.isEmpty)
            }
            #expect(fixture.ledger.unreadableReason?.contains("no such index: jobs_to_render") == true)
            var told = reader.told.stream.makeAsyncIterator()
            // The first retry fails as well, and schedules another one.
            _ = await told.next()
            try other.run(
                """
                CREATE INDEX jobs_to_render ON jobs(priority DESC, position)
                    WHERE state = 'queued' AND (url IS NULL OR inode <> 0)
                """)
            await fixture.until { fixture.owners.jobs.ids == [1] }
            #expect(fixture.ledger.unreadableReason == nil)
        }
    }
}
