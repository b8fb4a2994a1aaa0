/// Bytes as they come from a stream, given out frame by frame. No byte is searched or moved more than once or twice, however the
/// stream cuts its frames.
public struct FrameBuffer: Sendable {
    private var bytes: [UInt8] = []
    private var start = 0
    private var searched = 0

    public init() {}

    /// Bytes that wait for the end of their frame.
    public var count: Int { bytes.count - start }

    public mutating func append(_ more: [UInt8]) {
        if start > 0 {
            bytes.removeFirst(start)
            searched -= start
            start = 0
        }
        bytes += more
    }

    /// The next whole frame, without its terminator, or nil until more has come.
    public mutating func next() -> ArraySlice<UInt8>? {
        guard let end = bytes[searched...].firstIndex(of: Wire.terminator) else {
            searched = bytes.count
            return nil
        }
        defer {
            start = end + 1
            searched = start
        }
        return bytes[start..<end]
    }
}
