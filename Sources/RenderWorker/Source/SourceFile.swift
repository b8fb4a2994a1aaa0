import CVips
import Glibc
import SystemCalls
import WorkerProtocol

/// The file that came in, open for reading.
struct SourceFile {
    let descriptor: Descriptor
    let format: SourceFormat

    init(_ descriptor: Descriptor, name: String) throws {
        self.descriptor = descriptor
        let prefix = try Self.read(descriptor, from: 0, count: SourceFormat.prefixLength)
        format = try SourceFormat(sniffing: prefix, name: name)
    }

    /// A lazy picture of it, read from top to bottom, shrunk by the decoder where it can.
    func picture(shrink: Int = 1) throws -> Picture {
        // Every duplicate of a descriptor shares its offset.
        lseek(descriptor.number, 0, SEEK_SET)
        guard let source = vips_source_new_from_descriptor(descriptor.number) else { throw VipsError.take() }
        defer { g_object_unref(source) }
        let failOn = VIPS_FAIL_ON_TRUNCATED
        return try Picture.made { out in
            switch format {
            case .jpeg: cvips_jpegload(source, out, failOn, Int32(shrink))
            case .png: cvips_pngload(source, out, failOn)
            case .webp: cvips_webpload(source, out, failOn, 1 / Double(shrink))
            case .tiff: cvips_tiffload(source, out, failOn)
            case .gif: cvips_gifload(source, out, failOn)
            case .heif, .avif: cvips_heifload(source, out, failOn)
            }
        }
    }

    /// The whole file, for decoders that want it in memory.
    func bytes() throws -> [UInt8] {
        let size = Int(try descriptor.status().st_size)
        return try Self.read(descriptor, from: 0, count: size)
    }

    private static func read(_ descriptor: Descriptor, from start: Int, count: Int) throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            while used < count, let base = buffer.baseAddress {
                let got = pread(descriptor.number, base + used, count - used, off_t(start + used))
                if got < 0, errno == EINTR { continue }
                guard got >= 0 else { throw SystemError("read", "the picture") }
                if got == 0 { return }
                used += got
            }
        }
    }
}
