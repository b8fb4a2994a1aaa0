import CVips
import Glibc
import SystemCalls

/// libvips reads a file through these calls, which remember an error of the disk. The file is never mapped into memory,
/// where such an error would end the process. Each source has its own offset in the file.
final class SourceReader {
    private let descriptor: Descriptor
    private let size: Int
    private let file: String
    private var offset = 0

    private init(_ descriptor: Descriptor, _ size: Int, of file: String) {
        (self.descriptor, self.size, self.file) = (descriptor, size, file)
    }

    /// A source of a file's bytes, up to its size when it was opened. The caller owns it.
    static func source(_ descriptor: Descriptor, size: Int, of file: String) -> UnsafeMutablePointer<VipsSource>? {
        cvips_source_new(
            { _, bytes, count, this in this.map { SourceReader.from($0).read(bytes, Int(count)) } ?? -1 },
            { _, offset, whence, this in this.map { SourceReader.from($0).seek(Int(offset), whence) } ?? -1 },
            Unmanaged.passRetained(SourceReader(descriptor, size, of: file)).toOpaque(),
            { this, _ in if let this { Unmanaged<SourceReader>.fromOpaque(this).release() } })
    }

    private static func from(_ data: UnsafeMutableRawPointer) -> SourceReader {
        Unmanaged.fromOpaque(data).takeUnretainedValue()
    }

    /// Reads nothing behind the size: libvips asks there for more than it has room for, and a file may grow.
    private func read(_ bytes: UnsafeMutableRawPointer?, _ count: Int) -> gint64 {
        let count = max(0, min(count, size - offset))
        let got = uninterrupted { pread(descriptor.number, bytes, count, off_t(offset)) }
        if got < 0 { ReadFailure.note(errno, of: file) } else { offset += got }
        return gint64(got)
    }

    /// Does not move if the file asks for a place before its start, or beyond all numbers.
    private func seek(_ distance: Int, _ whence: Int32) -> gint64 {
        let start =
            switch whence {
            case SEEK_SET: 0
            case SEEK_CUR: offset
            default: size
            }
        let (target, isTooFar) = start.addingReportingOverflow(distance)
        guard !isTooFar, target >= 0 else { return -1 }
        offset = target
        return gint64(offset)
    }
}
