import CVips
import Glibc
import Synchronization
import SystemCalls

/// The file to which an encoder writes. A failed write is recorded here and stops the evaluation, but `write` returns
/// success to the encoder: libvips before 8.15.4 can mistake a failed write for success and then hang (libvips issue
/// 4116; the /dev/full test shows it).
final class ResultTarget: Sendable {
    private let descriptor: Int32
    /// The address of the evaluated image, stored as a number because pointers are not `Sendable`.
    private let evaluated: UInt
    private let failed = Mutex<Int32?>(nil)

    /// The descriptor and the picture must outlive the target.
    init(_ descriptor: borrowing Descriptor, of picture: Picture) {
        self.descriptor = descriptor.number
        evaluated = UInt(bitPattern: picture.image)
    }

    var failure: Int32? { failed.withLock { $0 } }

    func withTarget<Result>(_ body: (UnsafeMutablePointer<VipsTarget>) throws -> Result) throws -> Result {
        let target = cvips_target_new(
            { _, bytes, count, this in this.map(ResultTarget.from)?.write(bytes, count) ?? -1 },
            { _, bytes, count, this in
                this.map { data in uninterrupted { read(ResultTarget.from(data).descriptor, bytes, count) } } ?? -1
            },
            { _, offset, whence, this in this.map { lseek(ResultTarget.from($0).descriptor, offset, whence) } ?? -1 },
            Unmanaged.passUnretained(self).toOpaque())
        guard let target else { throw VipsError.take() }
        defer { g_object_unref(target) }
        return try body(target)
    }

    private static func from(_ data: UnsafeMutableRawPointer) -> ResultTarget {
        Unmanaged.fromOpaque(data).takeUnretainedValue()
    }

    /// Writes all bytes. After a failure it writes nothing, and still reports success.
    private func write(_ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        var written = 0
        while failure == nil, written < count, let bytes {
            let result = uninterrupted { Glibc.write(descriptor, bytes + written, count - written) }
            if result < 0 { fail(errno) } else { written += result }
        }
        return count
    }

    private func fail(_ code: Int32) {
        failed.withLock { $0 = $0 ?? code }
        if let image = UnsafeMutablePointer<VipsImage>(bitPattern: evaluated) { vips_image_set_kill(image, 1) }
    }
}
