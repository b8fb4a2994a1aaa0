import DaemonRuntime
import Dispatch
import Glibc
import ServiceProgram
import Synchronization
import SystemCalls
import TestTools
import Testing

@Suite("Lanes for work that may block on a disk")
struct FileLaneTests {
    /// A call that hangs until the test releases it.
    private final class Hang: Sendable {
        let begun = DispatchSemaphore(value: 0)
        let over = DispatchSemaphore(value: 0)

        var work: FileLane.Work {
            { [self] in
                begun.signal()
                over.wait()
            }
        }

        /// Blocks until a call has begun.
        func hasBegun() { begun.wait() }
    }

    @Test("a lane has limited threads and room; excess work is refused with the reason")
    func edge() throws {
        let (lane, hang) = (FileLane(threads: 2, room: 3), Hang())
        for _ in 1...5 { _ = try lane.take(hang.work) }
        for _ in 1...2 { hang.begun.wait() }
        let refusal = #expect(throws: FileLane.Full.self) { try lane.take {} }
        #expect(refusal?.description.contains("3 requests wait for it already; ask again later") == true)
        // The lane never refuses the daemon's own work.
        let own = DispatchSemaphore(value: 0)
        lane.async { own.signal() }
        for _ in 1...5 { hang.over.signal() }
        own.wait()
    }

    @Test("a withdrawn request is not started and frees its place; a request that has started can't be withdrawn")
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

    @Test("a lane with one thread works in order")
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

    @Test("a disk that is silent for too long is neither waited for nor asked again; its work ends when it answers")
    func silence() async throws {
        let (lane, hang) = (FileLane(threads: 1), Hang())
        #expect(try lane.wait(.seconds(3600)) { 5 } == 5)
        lane.async(hang.work)
        hang.hasBegun()
        // The lane must refuse, whether or not the disk has already been silent for longer than `patience`.
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
        "each mount has its own lanes, also behind a link; the daemon's work and clients' look-ups are separate",
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
            // The disk is unmounted, so its path now belongs to the file system below.
            #expect(FileLanes.work(on: disk) === FileLanes.work(on: folder))
        }
    }
}
