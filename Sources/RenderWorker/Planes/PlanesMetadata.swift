import CVips
import Synchronization

/// Metadata for pixels that were encoded without libvips. libvips saves the metadata in a one-pixel file. The worker
/// copies the metadata from that file into the encoded file.
struct PlanesMetadata {
    enum Saver { case jpeg, strippedJPEG, webp, png, strippedPNG }

    /// Everything about a one-pixel picture that a saver reads.
    private struct Facts: Hashable {
        var saver: Saver
        var bands: Int
        var resolution: [Double]
        var fields: [String: [UInt8]]
    }

    /// The latest one-pixel file. The file is cached, because saving it takes longer than rendering a small picture,
    /// and pictures that arrive together often have the same metadata, or none.
    private static let latest = Mutex<(facts: Facts, file: [UInt8])?>(nil)

    let picture: Picture

    /// The metadata of `picture`, as it would be saved.
    init(of picture: Picture) { self.picture = picture }

    /// Returns a copy of `jpeg` in which the metadata's markers replace the original markers.
    func added(toJPEG jpeg: [UInt8], strip: Bool) throws -> [UInt8] {
        let saved = try pixel(by: strip ? .strippedJPEG : .jpeg)
        var result: [UInt8] = [0xff, 0xd8]
        for marker in JPEGMarkers(saved).markers {
            var marker = Array(marker)
            let start = 4 + EXIF.prefix.count
            if marker.dropFirst(4).starts(with: EXIF.prefix) {
                EXIF.setSize(in: &marker, from: start, picture.width, picture.height)
            }
            result += marker
        }
        return result + JPEGMarkers(jpeg).rest
    }

    /// Returns `webp` with the metadata's chunks.
    func added(toWebP webp: [UInt8]) throws -> [UInt8] {
        let saved = try WebPContainer(pixel(by: .webp))
        let container = try WebPContainer(webp)
        for name in WebPContainer.metadata {
            guard let chunk = saved[name] else { continue }
            container[name] = name == "EXIF" ? EXIF.sized(chunk, picture.width, picture.height) : chunk
        }
        return try container.bytes()
    }

    /// Returns a JPEG XL file that contains the encoder's output and the metadata. Nil if the output is not JPEG XL.
    func added(toJXL encoded: [UInt8], strip: Bool) throws -> [UInt8]? {
        guard !strip else { return JXLContainer.file(of: encoded, exif: nil, xmp: nil) }
        let saved = try WebPContainer(pixel(by: .webp))
        let exif = saved["EXIF"].map { EXIF.sized($0, picture.width, picture.height) }
        return JXLContainer.file(
            of: encoded, exif: exif.map { $0.starts(with: EXIF.prefix) ? Array($0.dropFirst(6)) : $0 },
            xmp: saved["XMP "])
    }

    /// A file of one pixel with the picture's metadata.
    func pixel(by saver: Saver) throws -> [UInt8] {
        let facts = facts(for: saver)
        if let known = Self.latest.withLock({ $0?.facts == facts ? $0?.file : nil }) { return known }
        let pixel = try Metadata.pixel(of: picture)
        var (file, length) = (UnsafeMutableRawPointer?.none, 0)
        let status =
            switch saver {
            case .jpeg, .strippedJPEG: cvips_jpegsave_memory(pixel.image, &file, &length, saver == .jpeg ? 0 : 1)
            case .webp: cvips_webpsave_memory(pixel.image, &file, &length, 0, 0, 0)
            case .png, .strippedPNG: cvips_pngsave_memory(pixel.image, &file, &length, saver == .png ? 0 : 1)
            }
        guard status == 0, let file else { throw VipsError.take() }
        defer { g_free(file) }
        let saved = Array(UnsafeRawBufferPointer(start: file, count: length))
        Self.latest.withLock { $0 = (facts, saved) }
        return saved
    }

    private func facts(for saver: Saver) -> Facts {
        let names = picture.fieldNames.filter(Metadata.isWritten)
        return Facts(
            saver: saver, bands: picture.bands,
            resolution: [vips_image_get_xres(picture.image), vips_image_get_yres(picture.image)],
            fields: Dictionary(uniqueKeysWithValues: names.map { ($0, picture.bytes(of: $0)) }))
    }
}
