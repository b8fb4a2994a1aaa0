import CVips
import Glibc

/// The callbacks by which libvips reads a picture's bytes. Each source has its own read offset.
final class SourceReader {
    private let bytes: SourceBytes
    private let size: Int
    private let end: PNGEnd?
    private var offset = 0

    private init(_ bytes: SourceBytes, _ size: Int, _ end: PNGEnd?) {
        (self.bytes, self.size, self.end) = (bytes, end?.size ?? size, end)
    }

    /// A libvips source of the file's first `size` bytes. If `end` is given, it replaces the missing end of a truncated
    /// file: the source then consists of the file's bytes, followed by the bytes of `end`. The caller owns the source.
    static func source(_ bytes: SourceBytes, size: Int, end: PNGEnd? = nil) -> UnsafeMutablePointer<VipsSource>? {
        cvips_source_new(
            { _, bytes, count, this in this.map { SourceReader.from($0).read(bytes, Int(count)) } ?? -1 },
            { _, offset, whence, this in this.map { SourceReader.from($0).seek(Int(offset), whence) } ?? -1 },
            Unmanaged.passRetained(SourceReader(bytes, size, end)).toOpaque(),
            { this, _ in if let this { Unmanaged<SourceReader>.fromOpaque(this).release() } })
    }

    private static func from(_ data: UnsafeMutableRawPointer) -> SourceReader {
        Unmanaged.fromOpaque(data).takeUnretainedValue()
    }

    /// Reads nothing beyond `size`, for two reasons: near the end libvips requests more bytes than its buffer can hold,
    /// and a file may grow while it is read.
    private func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int) -> gint64 {
        if let end, offset >= size { return read(end, UnsafeMutableRawBufferPointer(start: bytes, count: count)) }
        let count = max(0, min(count, size - offset))
        let got = self.bytes.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: count), at: offset)
        guard got >= 0 else { return gint64(got) }
        end?.correct(UnsafeMutableRawBufferPointer(start: bytes, count: got), at: offset)
        offset += got
        return gint64(got)
    }

    private func read(_ end: PNGEnd, _ bytes: UnsafeMutableRawBufferPointer) -> gint64 {
        let part = end.bytes.dropFirst(offset - size).prefix(bytes.count)
        bytes.copyBytes(from: part)
        offset += part.count
        return gint64(part.count)
    }

    /// Sets the read offset. Fails, and leaves the offset unchanged, if the target is negative or overflows.
    private func seek(_ distance: Int, _ whence: Int32) -> gint64 {
        let start =
            switch whence {
            case SEEK_SET: 0
            case SEEK_CUR: offset
            default: size + (end?.bytes.count ?? 0)
            }
        let (target, isTooFar) = start.addingReportingOverflow(distance)
        guard !isTooFar, target >= 0 else { return -1 }
        offset = target
        return gint64(offset)
    }
}
