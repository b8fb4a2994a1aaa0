import Dispatch
import Foundation
import Glibc
import ServiceProgram
import Synchronization
import SystemCalls
import Testing

@Suite("Waiting for descriptors")
struct ReadySourceTests {
    private let queue = DispatchQueue(label: "test")

    private func pair() throws -> (Descriptor, Descriptor) {
        let (one, other) = try Descriptor.pair(type: Int32(SOCK_STREAM.rawValue))
        try one.setNonblocking()
        return (one, other)
    }

    /// Returns a stream that yields one element each time the descriptor is ready.
    private func readiness(
        _ descriptor: Descriptor, _ direction: ReadySource.Direction = .reading
    ) -> (source: ReadySource, events: AsyncStream<Void>.Iterator) {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let source = ReadySource(descriptor, direction, queue: queue)
        source.activate { continuation.yield() }
        return (source, stream.makeAsyncIterator())
    }

    @Test("a readable descriptor is reported again and again until it has been read")
    func reading() async throws {
        let (ours, theirs) = try pair()
        var (source, events) = readiness(ours)
        try Socket.send([1, 2], to: theirs)
        await events.next()
        await events.next()
        #expect(try Socket.receive(room: 10, from: ours).bytes == [1, 2])
        source.cancel()
    }

    @Test("one socket is watched for reading and writing, and the two are told apart")
    func both() async throws {
        let (ours, theirs) = try pair()
        var (reading, arrivals) = readiness(ours)
        var (writing, room) = readiness(ours, .writing)
        await room.next()
        writing.cancel()
        try Socket.send([1], to: theirs)
        await arrivals.next()
        #expect(try Socket.receive(room: 10, from: ours).bytes == [1])
        reading.cancel()
    }

    @Test("nothing is reported while the source is suspended; pending events are reported afterwards")
    func suspended() async throws {
        let (ours, theirs) = try pair()
        let count = Mutex(0)
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let source = ReadySource(ours, queue: queue)
        source.suspend()
        source.activate {
            count.withLock { $0 += 1 }
            continuation.yield()
        }
        try Socket.send([1], to: theirs)
        // Watch another descriptor on the same thread and queue. It becomes ready later.
        let (others, end) = try pair()
        var (other, events) = readiness(others)
        try Socket.send([1], to: end)
        await events.next()
        other.cancel()
        #expect(count.withLock { $0 } == 0)
        source.resume()
        for await _ in stream { break }
        source.cancel()
    }

    @Test(
        "a hang-up is reported; thousands of them on several queues are all reported, and all sources are released")
    func hangUps() async throws {
        let before = try FileSystem.names(in: "/proc/self/fd").count
        await withTaskGroup { group in
            for number in 0..<4 {
                group.addTask {
                    let queue = DispatchQueue(label: "test \(number)")
                    for _ in 0..<2000 {
                        await withCheckedContinuation { continuation in
                            guard let (ours, theirs) = try? Descriptor.pair(type: Int32(SOCK_STREAM.rawValue)) else {
                                return continuation.resume()
                            }
                            let source = ReadySource(ours, queue: queue)
                            source.activate {
                                source.cancel()
                                continuation.resume()
                            }
                            withExtendedLifetime(theirs) {}
                        }
                    }
                }
            }
        }
        #expect(try FileSystem.names(in: "/proc/self/fd").count <= before + 8)
    }
}
