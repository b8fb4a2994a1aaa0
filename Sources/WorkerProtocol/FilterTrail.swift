import Glibc
public import SystemCalls

/// A record of the filters that a worker runs. When the worker applies filters to a picture, it writes their names to a
/// line, joined by `+` if the filters share a table. The worker ends the line when the filters have returned. The
/// supervisor shares the memory, so the record needs no messages, and stays readable after the worker has crashed.
public struct FilterTrail: Sendable {
    /// Maximum length in bytes. A longer trail starts over, because only its end matters.
    private static let most = 4096
    private static let end = UInt8(ascii: "\n")

    public let memory: Descriptor
    private var length = 0

    public init() throws(SystemError) { memory = try Descriptor.memory([0]) }

    /// Reads the trail in the memory that was received with `hello`.
    public init(reading memory: Descriptor) { self.memory = memory }

    public mutating func begin() {
        length = 0
        write([])
    }

    /// Records that these filters are running now.
    public mutating func enter(_ filters: [String]) {
        let line = Array(filters.joined(separator: "+").utf8)
        if length + line.count + 2 > Self.most { length = 0 }
        write(line)
    }

    public mutating func leave() { write([Self.end]) }

    private mutating func write(_ bytes: [UInt8]) {
        // Ignores errors, because the picture matters more than the record.
        _ = pwrite(memory.number, bytes + [0], bytes.count + 1, off_t(length))
        length += bytes.count
    }

    /// `applied` are the filters that have returned, grouped as the worker applied them; `running` are the filters that
    /// are running.
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
