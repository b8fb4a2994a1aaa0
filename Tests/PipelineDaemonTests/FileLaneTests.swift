import DaemonRuntime
import Dispatch
import Glibc
import Synchronization
import SystemCalls
import TestTools
import Testing

@testable import PictureFiles

@Suite("Lanes of work that may wait for a disk")
struct FileLaneTests {
    /// Calls that hang until they are let go.
    private final class Hang: Sendable {
        let begun = DispatchSemaphore(value: 0)
        let over = DispatchSemaphore(value: 0)

        var work: FileLane.Work {
            { [self] in
                begun.signal()
                over.wait()
            }
        }

        /// Returns when a call has begun.
        func hasBegun() { begun.wait() }
    }

    @Test("a lane has so many threads and so much room; what does not fit is refused, and says why")
    func edge() throws {
        let (lane, hang) = (FileLane(threads: 2, room: 3), Hang())
        for _ in 1...5 { _ = try lane.take(hang.work) }
        for _ in 1...2 { hang.begun.wait() }
        let refusal = #expect(throws: FileLane.Full.self) { try lane.take {} }
        #expect(refusal?.description.contains("3 requests wait for it already; ask again later") == true)
        // The daemon's own work is not refused.
        let own = DispatchSemaphore(value: 0)
        lane.async { own.signal() }
        for _ in 1...5 { hang.over.signal() }
        own.wait()
    }

    @Test("a request that is withdrawn is not begun, and its place is free; one that has begun can't be withdrawn")
    func withdrawal() throws {
        let (lane, hang) = (FileLane(threads: 1, room: 1), Hang())
        let first = try lane.take(hang.work)
        hang.begun.wait()
        #expect(!first.withdraw())
        let waiting = try lane.take { Issue.record("a withdrawn request was begun") }
        #expect(waiting.withdraw() && !waiting.withdraw())
        let done = DispatchSemaphore(value: 0)
        _ = try lane.take { done.signal() }
        hang.over.signal()
        done.wait()
    }

    @Test("work with one thread is done in its order")
    func order() {
        let lane = FileLane(threads: 1)
        let seen = Mutex<[Int]>([])
        let done = DispatchSemaphore(value: 0)
        for number in 1...1000 {
            lane.async {
                seen.withLock { $0.append(number) }
                if number == 1000 { done.signal() }
            }
        }
        done.wait()
        #expect(seen.withLock { $0 } == Array(1...1000))
    }

    @Test("a disk that is silent for too long is not waited for, nor asked again; its work is over when it answers")
    func silence() async throws {
        let (lane, hang) = (FileLane(threads: 1), Hang())
        #expect(try lane.wait(.seconds(3600)) { 5 } == 5)
        lane.async(hang.work)
        hang.hasBegun()
        // Whether it has been silent for longer by then, or not.
        for patience in [Duration.milliseconds(1), .zero] {
            #expect(throws: FileLane.Silence.self) {
                try lane.wait(patience) { Issue.record("a silent disk was asked again") }
            }
        }
        hang.over.signal()
        while lane.oldest != nil { await Look.again() }
        #expect(try lane.wait(.seconds(3600)) { 6 } == 6)
    }

    @Test(
        "each mount has lanes of its own, also behind a link; work and clients' looks are apart",
        .enabled(if: Mount.isPermitted, "only root may mount a file system"))
    func mounts() async throws {
        try await withTemporaryFolder { (folder: String) async throws -> Void in
            let folder = FileSystem.resolved(folder)
            let (disk, link) = ("\(folder)/disk", "\(folder)/link")
            try await Mount.with(disk, size: "64k") { _ in
                let own = FileLanes.work(on: "\(disk)/a/b")
                #expect(own === FileLanes.work(on: disk) && own !== FileLanes.work(on: folder))
                #expect(own !== FileLanes.looks(at: disk))
                #expect(symlink(disk, link) == 0)
                #expect(FileLanes.work(on: link) === FileLanes.work(on: folder))
                FileLanes.know([link])
                while FileLanes.work(on: "\(link)/a") !== own { await Look.again() }
            }
            // It is gone.
            #expect(FileLanes.work(on: disk) === FileLanes.work(on: folder))
        }
    }
}
