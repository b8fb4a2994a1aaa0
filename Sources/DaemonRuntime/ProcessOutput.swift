import Dispatch
import Glibc
package import SystemCalls

/// Reads a child's standard output and error in small turns. A child that writes without end is slowed down, and leaves
/// the queue free for other work.
package actor ProcessOutput: QueueActor {
    /// Bytes read in a turn.
    private static let turn = 64 * 1024
    /// The pause after a full turn.
    private static let rest = DispatchTimeInterval.milliseconds(5)
    /// Maximum turns after the child's end, to read the rest of a socket's buffer. A grandchild may go on writing.
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

    /// Begins to read; the caller must call `end`.
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

    /// Reads once; true when there may be more now.
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
