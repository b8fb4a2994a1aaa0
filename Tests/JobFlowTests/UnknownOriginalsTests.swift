import JobFlow
import JobLedger
import JobModel
import PipelineModel
import SystemCalls
import Testing

@testable import PictureFiles

@Suite("Files in the archive that no job knows")
struct UnknownOriginalsTests {
    @Test(
        "every file counts, also in subfolders, except jobs' originals and files outside the archive")
    func counted() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let folder = "\(fixture.places.archive)/r"
            var job = try fixture.ended(1, .done, at: "\(folder)/1.png")
            job.disposed = true
            #expect(fixture.insert([job]))
            for path in ["\(folder)/old.png", "\(folder)/album/older.png", "\(fixture.places.failed)/r/2.png"] {
                try fixture.write("picture", to: path)
            }
            let unknown = UnknownOriginals(ledger: fixture.ledger, archive: fixture.places.archive)
            func count(_ path: String) throws -> Int { try unknown.count(at: path) }
            #expect(try count("\(folder)/old.png") == 1 && count(job.source) == 0 && count("\(folder)/none.png") == 0)
            #expect(try count(folder) == 2 && count("\(folder)/album") == 1)
            #expect(try count("\(fixture.places.failed)/r/2.png") == 0)
        }
    }
}
