import DaemonRuntime
import Foundation
import Glibc
import Synchronization
import SystemCalls
import Testing
import WorkerProtocol

@testable import WorkerPools

@Suite("A pool's starter")
@Coordination
struct WorkerStarterTests {
    /// Reports the worker's messages and its exit as events.
    private final class Started: WorkerProcess<FetchMessage>, StartedWorker {
        enum Event: Sendable {
            case hello(missing: [String])
            case ended(String)
        }

        nonisolated let events: AsyncStream<Event>
        private let event: AsyncStream<Event>.Continuation
        var isReady = false

        override init(program: String, arguments: [String]) throws {
            (events, event) = AsyncStream<Event>.makeStream()
            try super.init(program: program, arguments: arguments)
        }

        override func received(_ message: FetchMessage, _: [Descriptor]) {
            guard case .hello(_, let missing) = message else { return }
            isReady = true
            event.yield(.hello(missing: missing))
        }

        override func ended(_ end: WorkerEnd) { event.yield(.ended(end.description)) }

        /// Waits until the worker has ended; returns the reason.
        func end() async -> String {
            for await case .ended(let how) in events { return how }
            return ""
        }

        func hello() async { for await case .hello in events { return } }
    }

    private static let fetch = InstalledProgram.folder + "/pipelined-fetch"

    private func starter() -> WorkerStarter<Started> { WorkerStarter("a test worker", pause: .milliseconds(1)) }

    private func start(
        _ program: String = Self.fetch, _ arguments: [String] = [], by starter: WorkerStarter<Started>,
        within limit: Duration = .seconds(60)
    ) throws -> Started {
        try #require(starter.start(within: limit) { try Started(program: program, arguments: arguments) })
    }

    @Test("a starter retries after each failed start, reports the third, and forgets them after a success")
    func again() async {
        let (pauses, over) = AsyncStream<Void>.makeStream()
        var pause = pauses.makeAsyncIterator()
        let starter = starter()
        starter.again = { over.yield() }
        for count in 1...3 {
            #expect(starter.problem == nil)
            #expect(starter.start(within: .zero) { try Started(program: "/nowhere", arguments: []) } == nil)
            #expect(starter.isPausing)
            await pause.next()
            #expect(!starter.isPausing, "after \(count)")
        }
        #expect(starter.problem == "a test worker exits at its start (3 times in a row); see the log")
        starter.succeeded()
        #expect(starter.problem == nil)
    }

    @Test("a starter ends a worker that does not say hello in time")
    func mute() async throws {
        let starter = starter()
        let worker = try start("/bin/sleep", ["1000"], by: starter, within: .zero)
        #expect(await worker.end().hasPrefix("was ended by signal 9"))
    }

    @Test("a starter ends a worker that has been stopped")
    func stopped() async throws {
        let starter = starter()
        let worker = try start(by: starter)
        await worker.hello()
        kill(worker.process, SIGSTOP)
        #expect(await worker.end().hasPrefix("was stopped by signal"))
        withExtendedLifetime(starter) {}
    }

    @Test("if full confinement is required, a starter refuses a worker that lacks any of it, and releases it")
    func confined() async throws {
        let starter = starter()
        let worker = try start(by: starter)
        await worker.hello()
        #expect(starter.admits(worker, missing: ["Landlock"]))
        starter.mustBeConfined = true
        #expect(starter.admits(worker, missing: []))
        #expect(!starter.admits(worker, missing: ["Landlock"]))
        #expect(starter.isPausing)
        #expect(await worker.end() == "exited with status 0")
    }

    @Test("a starter has stopped once its last worker is gone")
    func stop() async throws {
        let starter = starter()
        let workers = [try start(by: starter), try start(by: starter)]
        let stopped = Mutex(false)
        let (ends, end) = AsyncStream<Void>.makeStream()
        starter.stop {
            stopped.withLock { $0 = true }
            end.yield()
        }
        for worker in workers {
            #expect(!stopped.withLock { $0 })
            worker.leave()
            _ = await worker.end()
            starter.forget(worker)
        }
        for await _ in ends { break }
        #expect(starter.workers.isEmpty)
    }
}
