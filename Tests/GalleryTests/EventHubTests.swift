import Foundation
import Glibc
import PipelineControl
import ServiceProgram
import Synchronization
import SystemCalls
import Testing

@testable import Gallery

@Suite("Events for browsers")
struct EventHubTests {
    /// A daemon whose `Progress` call fails the first `failures` times and replies afterwards. It answers no other
    /// call.
    private final class Daemon: Sendable {
        let path = NSTemporaryDirectory() + "/hub-\(UUID().uuidString.prefix(8)).sock"
        private let listener: Descriptor
        private let clients = Mutex<[Descriptor]>([])
        private let failures: Mutex<Int>

        init(failing failures: Int) throws {
            self.failures = Mutex(failures)
            listener = try Socket.listen(path)
            Thread.detachNewThread { [weak self, listener] in
                while let client = try? Socket.accept(listener), let daemon = self { try? daemon.serve(client) }
            }
        }

        deinit {
            shutdown(listener.number, Int32(SHUT_RDWR))
            unlink(path)
        }

        private func serve(_ client: Descriptor) throws {
            // Make the accepted socket blocking.
            _ = fcntl(client.number, F_SETFL, 0)
            var call: [UInt8] = []
            while !call.contains(Wire.terminator) { call += try Socket.receive(room: 4096, from: client).bytes }
            if String(decoding: call, as: UTF8.self).contains(Call.Progress.method) {
                let fails = failures.withLock { failures in
                    failures -= 1
                    return failures >= 0
                }
                guard !fails else { return _ = shutdown(client.number, Int32(SHUT_RDWR)) }
                let reply = Call.Progress.Reply(
                    others: Control.Progress(unit: "jobs", done: 1), unfinished: 7, running: 0)
                try Socket.send(Wire.frame(WireReply(parameters: reply, continues: true)), to: client)
            }
            clients.withLock { $0.append(client) }
        }
    }

    @Test("when only the Progress call fails, it is made again, and the bars move on", arguments: [0, 1, 3])
    func progress(failures: Int) async throws {
        let daemon = try Daemon(failing: failures)
        let executor = QueueExecutor("hub")
        let hub = EventHub(ControlCalls(path: daemon.path, on: executor), on: executor)
        let stream = HTTPStream()
        let (wakes, wake) = AsyncStream<Void>.makeStream()
        stream.attach { wake.yield() }
        hub.join(stream, after: 1, most: 1, while: { true }) { _ in }
        var told = ""
        for await _ in wakes {
            told += String(decoding: stream.next(most: 1 << 16) ?? [], as: UTF8.self)
            if told.contains("event: progress\n") { break }
        }
        #expect(told.contains(#""unfinished":7"#))
        hub.leave(stream)
        withExtendedLifetime(daemon) {}
    }
}
