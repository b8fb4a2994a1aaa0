import DaemonRuntime
import JobLedger
import JobModel
import PictureFiles
import PipelineModel
import Testing

@testable import JobFlow

@Suite("Retries")
struct RetriesTests {
    @Test("jobs that come back have distinct positions, even before the ledger reports that they wait")
    func positions() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let (owners, ledger) = (fixture.owners, fixture.ledger)
            #expect(fixture.insert((1...3).map { fixture.job($0) }))
            let last = Coordination.sync {
                owners.jobs.begin(after: (id: 3, position: 3, batch: 0))
                let place = Resource.place(fixture.places.outbox + "/r")
                ledger.setAside(place, reason: "no space", except: []) { _ in }
                owners.jobs.queue(waitingFor: place)
                return owners.jobs.numbers.takePositions()
            }
            #expect(ledger.flush(seconds: 30))
            let positions = try ledger.jobs([1, 2, 3]).map(\.position)
            #expect(positions == positions.sorted() && Set(positions).count == 3)
            #expect(positions.allSatisfy { $0 > 3 && $0 < last }, "\(positions), \(last)")
        }
    }
}
