import DaemonRuntime
import Glibc
import Synchronization
import SystemCalls
import Testing
import WorkerProtocol

@testable import WorkerPools

@Suite("A worker's process")
struct WorkerProcessTests {
    /// A worker process that collects the IDs of its failed transfers.
    private final class Listening: WorkerProcess<FetchMessage> {
        nonisolated let failed = Mutex<[Int]>([])
        var heard: @Sendable (Int) -> Void = { _ in }

        override func received(_ message: FetchMessage, _: [Descriptor]) {
            guard case .failed(let id, _) = message else { return }
            heard(
                failed.withLock { failed in
                    failed.append(id)
                    return failed.count
                })
        }
    }

    @Test("messages to a worker that does not read at once arrive later, whole and in order")
    func slowReader() async throws {
        let worker = try Coordination.sync {
            try Listening(program: InstalledProgram.folder + "/pipelined-fetch", arguments: [])
        }
        defer { Coordination.sync { worker.terminate() } }
        let count = 3000
        await withCheckedContinuation { continuation in
            // Every requested transfer fails immediately. The requests together exceed the socket's buffer.
            kill(worker.process, SIGSTOP)
            let target = try? Descriptor.open("/dev/null", O_WRONLY)
            Coordination.sync {
                worker.heard = { if $0 == count { continuation.resume() } }
                for id in 1...count {
                    let request = FetchRequest(id: id, url: "gopher://\(id)", resume: nil, limits: FetchLimits())
                    worker.send(FetchOrder.fetch(request), descriptors: target.map { [$0] } ?? [])
                }
            }
            kill(worker.process, SIGCONT)
        }
        #expect(worker.failed.withLock { $0 } == Array(1...count))
    }
}
