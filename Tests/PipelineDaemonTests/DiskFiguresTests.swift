import DaemonRuntime
import Testing

@testable import PipelineDaemon

@Suite("How full the disks are")
struct DiskFiguresTests {
    @Test("two who ask at once are told the same")
    func together() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let (answers, continuation) = AsyncStream<[String]>.makeStream()
            Coordination.sync {
                for _ in 1...2 { fixture.owners.disks.look { continuation.yield($0.map(\.path)) } }
            }
            for await paths in answers.prefix(2) { #expect(paths == [fixture.places.data]) }
        }
    }
}
