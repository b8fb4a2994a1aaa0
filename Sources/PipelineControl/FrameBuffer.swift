import Glibc

/// Splits a stream's bytes into frames. It examines each byte once, and moves it at most twice, even if a frame arrives
/// in many small pieces.
public struct FrameBuffer: Sendable {
    private var bytes: [UInt8] = []
    private var start = 0
    private var searched = 0
    /// The number of bytes that have been returned or skipped, terminators included.
    public private(set) var taken = 0

    public init() {}

    /// The number of bytes that have not been returned yet.
    public var count: Int { bytes.count - start }

    public mutating func append(_ more: [UInt8]) {
        if start > 0 {
            bytes.removeFirst(start)
            searched -= start
            start = 0
        }
        bytes += more
    }

    /// Whether `next` can return a frame.
    public mutating func hasFrame() -> Bool {
        let rest = bytes.count - searched
        let ahead = bytes.withUnsafeBytes { all in
            guard let place = all.baseAddress.map({ $0 + searched }) else { return rest }
            return memchr(place, Int32(Wire.terminator), rest).map { UnsafeRawPointer($0) - place } ?? rest
        }
        searched += ahead
        return ahead < rest
    }

    /// The next whole frame, without its terminator; nil until more bytes have arrived.
    public mutating func next() -> ArraySlice<UInt8>? {
        guard hasFrame() else { return nil }
        let frame = bytes[start..<searched]
        searched += 1
        taken += searched - start
        start = searched
        return frame
    }
}
