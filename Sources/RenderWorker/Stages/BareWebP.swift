import CVips
import CWebP

/// Saves a WebP without metadata. webpsave of libvips 8.14 writes EXIF even with `strip`.
enum BareWebP {
    static func save(
        _ image: UnsafeMutablePointer<VipsImage>, _ target: UnsafeMutablePointer<VipsTarget>, quality: Int32
    ) -> Int32 {
        var (bytes, length) = (UnsafeMutableRawPointer?.none, 0)
        guard cvips_webpsave_memory(image, &bytes, &length, quality) == 0 else { return -1 }
        defer { g_free(bytes) }
        var whole = WebPData(bytes: bytes?.assumingMemoryBound(to: UInt8.self), size: length)
        guard let container = WebPMuxCreateInternal(&whole, 0, WEBP_MUX_ABI_VERSION) else {
            return failed("can't take the container apart")
        }
        defer { WebPMuxDelete(container) }
        // A missing chunk is no failure.
        WebPMuxDeleteChunk(container, "EXIF")
        var bare = WebPData()
        let status = WebPMuxAssemble(container, &bare)
        guard status == WEBP_MUX_OK else { return failed("can't put the container together (\(status.rawValue))") }
        defer { WebPFree(UnsafeMutableRawPointer(mutating: bare.bytes)) }
        return vips_target_write(target, bare.bytes, bare.size) == 0 ? vips_target_end(target) : -1
    }

    /// Blames the encoder: a failure without libvips' words would be taken for one of reading the picture.
    private static func failed(_ reason: String) -> Int32 {
        cvips_error("webpsave", reason)
        return -1
    }
}
