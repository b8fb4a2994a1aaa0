import Dispatch
import Glibc
package import SystemCalls

/// Reads a child's standard output and error in small portions, with pauses. The pauses slow down a child that writes
/// without end, and leave the queue free for other work.
package actor ProcessOutput: QueueActor {
    /// Maximum bytes of one read.
    private static let turn = 64 * 1024
    /// The pause after a read that returned `turn` bytes.
    private static let rest = DispatchTimeInterval.milliseconds(5)
    /// Maximum reads after the child has ended, to empty the socket's buffer. Without a limit they might never finish,
    /// because a grandchild may still be writing.
    private static let lastTurns = 8

    private let source: ReadySource
    private let descriptor: Descriptor
    package nonisolated let executor: QueueExecutor
    private var heard: (@Sendable (ArraySlice<UInt8>) -> Void)?

    /// Runs on its owner's executor.
    package init(_ descriptor: Descriptor, on executor: QueueExecutor) throws(SystemError) {
        try descriptor.setNonblocking()
        (self.descriptor, self.executor) = (descriptor, executor)
        source = ReadySource(descriptor, queue: executor.queue)
    }

    /// Starts to pass the output to `heard`; the caller must call `end` once the child has ended.
    package func follow(_ heard: @escaping @Sendable (ArraySlice<UInt8>) -> Void) {
        self.heard = heard
        source.activate { [weak self] in self?.assumeIsolated { $0.turn() } }
    }

    /// Reads the remaining output of a child that has ended.
    package func end() {
        for _ in 0..<Self.lastTurns where !read() { break }
        heard = nil
        source.cancel()
    }

    private func turn() {
        guard read() else { return }
        source.suspend()
        queue.asyncAfter(deadline: .now() + Self.rest) { [source] in source.resume() }
    }

    /// Reads once; returns true if more bytes may be available already.
    private func read() -> Bool {
        guard let heard else { return false }
        var room = [UInt8](repeating: 0, count: Self.turn)
        let got = uninterrupted { Glibc.read(descriptor.number, &room, room.count) }
        if got == 0 { source.cancel() }
        guard got > 0 else { return false }
        heard(room[..<got])
        return got == room.count
    }
}
