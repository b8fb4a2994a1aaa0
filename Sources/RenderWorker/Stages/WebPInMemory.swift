import CVips

/// Saves a WebP to memory first, to correct its metadata before writing the file. libvips 8.14's webpsave writes EXIF
/// even with `strip`. For an animation, it records the height of all frames together.
enum WebPInMemory {
    static func save(
        _ picture: Picture, _ target: UnsafeMutablePointer<VipsTarget>, quality: Int32, effort: Int32,
        lossless: gboolean, strip: Bool
    ) -> Int32 {
        var (file, length) = (UnsafeMutableRawPointer?.none, 0)
        guard cvips_webpsave_memory(picture.image, &file, &length, quality, effort, lossless) == 0, let file else {
            return -1
        }
        defer { g_free(file) }
        do {
            let container = try WebPContainer(Array(UnsafeRawBufferPointer(start: file, count: length)))
            container["EXIF"] =
                strip
                ? nil
                : container["EXIF"].map {
                    EXIF.sized($0, picture.width, picture.frameHeight)
                }
            let changed = try container.bytes()
            return vips_target_write(target, changed, changed.count) == 0 ? vips_target_end(target) : -1
        } catch {
            cvips_error("webpsave", error.reason)
            return -1
        }
    }
}
