import Dispatch
import Glibc
import SystemCalls

/// What a child process writes on its standard output and error, read in small turns: a child that writes without end is slowed down, and
/// keeps its queue from nothing else.
///
/// `@unchecked`: it lives on the queue it was given.
final class ProcessOutput: @unchecked Sendable {
    /// Bytes read in a turn.
    private static let turn = 64 * 1024
    /// Between turns that were full.
    private static let rest = DispatchTimeInterval.milliseconds(5)
    /// What a socket's buffer can still hold when the child has ended, in turns. A grandchild may go on writing.
    private static let lastTurns = 8

    private let source: ReadySource
    private let descriptor: Descriptor
    private let queue: DispatchQueue
    private var heard: ((ArraySlice<UInt8>) -> Void)?

    init(_ descriptor: Descriptor, queue: DispatchQueue) throws(SystemError) {
        try descriptor.setNonblocking()
        self.descriptor = descriptor
        self.queue = queue
        source = ReadySource(descriptor, queue: queue)
    }

    /// Begins. Whoever does must `end` it.
    func follow(_ heard: @escaping (ArraySlice<UInt8>) -> Void) {
        self.heard = heard
        source.activate { [weak self] in self?.turn() }
    }

    /// The child has ended: its last words.
    func end() {
        for _ in 0..<Self.lastTurns where !read() { break }
        heard = nil
        source.cancel()
    }

    private func turn() {
        guard read() else { return }
        source.suspend()
        queue.asyncAfter(deadline: .now() + Self.rest) { [source] in source.resume() }
    }

    /// Whether there may be more now.
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
