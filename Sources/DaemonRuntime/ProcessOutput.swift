import Dispatch
import Glibc
package import ServiceProgram
package import SystemCalls

/// Reads a child's standard output and error in small portions, with pauses. As long as one read does not empty the
/// socket, each pause is twice as long as the previous pause, up to `longestRest`. The pauses slow the child down, so
/// that reading costs next to nothing and the queue stays free.
package actor ProcessOutput: QueueActor {
    /// Maximum bytes of one read.
    private static let turn = 64 * 1024
    /// The pause in milliseconds after the first turn that did not empty the socket, and the longest pause.
    private static let (leastRest, longestRest) = (5, 80)
    /// Maximum number of reads per turn, enough to empty the socket's buffer. Without a limit, a turn might never
    /// finish: the child may still be writing, and so may a grandchild that outlives it.
    private static let mostReads = 8

    private let source: ReadySource
    private let descriptor: Descriptor
    package nonisolated let executor: QueueExecutor
    private var heard: (@Sendable (ArraySlice<UInt8>) -> Void)?
    private var rest = leastRest

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
        readAll()
        heard = nil
        source.cancel()
    }

    private func turn() {
        guard readAll() else {
            rest = Self.leastRest
            return
        }
        source.suspend()
        queue.asyncAfter(deadline: .now() + .milliseconds(rest)) { [source] in source.resume() }
        rest = min(2 * rest, Self.longestRest)
    }

    /// Reads until the socket is empty, up to the limit; returns true if more than one read was needed.
    @discardableResult
    private func readAll() -> Bool {
        for count in 0..<Self.mostReads where !read() { return count > 0 }
        return true
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
