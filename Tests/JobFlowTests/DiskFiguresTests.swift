import DaemonInterface
import DaemonRuntime
import Dispatch
import PictureFiles
import ServiceProgram
import TestTools
import Testing

@testable import JobFlow

@Suite("How full the disks are")
struct DiskFiguresTests {
    private func look(_ fixture: OwnersFixture) async -> [String] {
        await withCheckedContinuation { continuation in
            Coordination.async { fixture.owners.keeping.disks.look { continuation.resume(returning: $0.map(\.path)) } }
        }
    }

    @Test(
        "a disk that does not answer is left out, and returns when it answers",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"))
    func silent() async throws {
        let recipe = "[Recipe]\nOutbox=disk\n[Output]\nChain=save\n"
        try await OwnersFixture.with(recipe: recipe) { (fixture: OwnersFixture) async throws -> Void in
            let (data, disk) = (fixture.places.data, "\(fixture.places.outbox)/disk")
            try await Mount.with(disk, size: "1m") { _ in
                #expect(await look(fixture) == [data, disk])
                let hang = DispatchSemaphore(value: 0)
                // Occupy all threads of the disk's lane.
                for _ in 1...16 { FileLanes.work(on: disk).async { hang.wait() } }
                for _ in 1...2 { #expect(await look(fixture) == [data]) }
                for _ in 1...16 { hang.signal() }
                while await look(fixture) != [data, disk] { await fixture.settle() }
            }
        }
    }

    @Test("concurrent callers get the same answer")
    func together() async throws {
        try await OwnersFixture.with { (fixture: OwnersFixture) async throws -> Void in
            let (answers, continuation) = AsyncStream<[String]>.makeStream()
            Coordination.sync {
                for _ in 1...2 { fixture.owners.keeping.disks.look { continuation.yield($0.map(\.path)) } }
            }
            for await paths in answers.prefix(2) { #expect(paths == [fixture.places.data]) }
        }
    }
}
