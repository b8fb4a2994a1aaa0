import Glibc
public import SystemCalls

/// The trail of the filters whose code a worker runs. Each time that filters are applied to a picture, they write a
/// line, joined by `+` if they share a table; its end marks their return. The memory is shared with the reader, so the
/// trail costs no message, and outlives a worker that can send nothing any more.
public struct FilterTrail: Sendable {
    /// A longer trail starts over, because the end matters.
    private static let most = 4096
    private static let end = UInt8(ascii: "\n")

    public let memory: Descriptor
    private var length = 0

    public init() throws(SystemError) { memory = try Descriptor.memory([0]) }

    /// Reads the memory that came with `hello`.
    public init(reading memory: Descriptor) { self.memory = memory }

    public mutating func begin() {
        length = 0
        write([])
    }

    /// Notes that the code of these filters runs now.
    public mutating func enter(_ filters: [String]) {
        let line = Array(filters.joined(separator: "+").utf8)
        if length + line.count + 2 > Self.most { length = 0 }
        write(line)
    }

    public mutating func leave() { write([Self.end]) }

    private mutating func write(_ bytes: [UInt8]) {
        // Errors are ignored: the picture matters more than its trail.
        _ = pwrite(memory.number, bytes + [0], bytes.count + 1, off_t(length))
        length += bytes.count
    }

    /// Returns the filters of each finished application, and the filters whose code is running.
    public func read() -> (applied: [[String]], running: [String]) {
        var bytes = [UInt8](repeating: 0, count: Self.most)
        let count = pread(memory.number, &bytes, bytes.count, 0)
        var lines =
            bytes.prefix(max(0, count)).prefix { $0 != 0 }
            .split(separator: Self.end, omittingEmptySubsequences: false)
            .map { $0.split(separator: UInt8(ascii: "+")).map { String(decoding: $0, as: UTF8.self) } }
        let running = lines.popLast() ?? []
        return (lines, running)
    }
}
