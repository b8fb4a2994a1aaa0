import CVips

/// Saves a WebP without metadata. webpsave of libvips 8.14 writes EXIF even with `strip`.
enum BareWebP {
    static func save(
        _ image: UnsafeMutablePointer<VipsImage>, _ target: UnsafeMutablePointer<VipsTarget>, quality: Int32,
        effort: Int32, lossless: gboolean
    ) -> Int32 {
        var (file, length) = (UnsafeMutableRawPointer?.none, 0)
        guard cvips_webpsave_memory(image, &file, &length, quality, effort, lossless) == 0, let file else { return -1 }
        defer { g_free(file) }
        do {
            let container = try WebPContainer(Array(UnsafeRawBufferPointer(start: file, count: length)))
            container["EXIF"] = nil
            let bare = try container.bytes()
            return vips_target_write(target, bare, bare.count) == 0 ? vips_target_end(target) : -1
        } catch {
            cvips_error("webpsave", error.reason)
            return -1
        }
    }
}
