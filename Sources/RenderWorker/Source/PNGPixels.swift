import CPNGRows
import CVips
import PipelineModel

/// The pixels of a common PNG, row by row from the first to the last. The worker decodes them itself, in about half the
/// time that libvips takes.
final class PNGPixels {
    private let rows: OpaquePointer
    private let file: File
    private let size: png_rows_size

    /// The first `size` bytes of the file, which may grow while it is read.
    private final class File {
        private let bytes: SourceBytes
        private let size: Int

        init(_ bytes: SourceBytes, size: Int) { (self.bytes, self.size) = (bytes, size) }

        func read(_ buffer: UnsafeMutableRawPointer?, _ count: Int, at offset: Int) -> Int {
            let count = max(0, min(count, size - offset))
            return bytes.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count), at: offset)
        }
    }

    /// Nil when the file is unusual, or damaged near its start.
    init?(_ bytes: SourceBytes, size: Int) {
        file = File(bytes, size: size)
        var found = png_rows_size()
        let access = png_rows_file(
            read: { file, buffer, count, offset in
                guard let file else { return -1 }
                return Unmanaged<File>.fromOpaque(file).takeUnretainedValue().read(buffer, count, at: offset)
            }, context: Unmanaged.passUnretained(file).toOpaque())
        guard let rows = png_rows_open(access, &found) else { return nil }
        (self.rows, self.size) = (rows, found)
    }

    deinit { png_rows_close(rows) }

    var width: Int { Int(size.width) }
    var height: Int { Int(size.height) }
    var bands: Int { Int(size.bands) }
    /// Whether `luma` may be used: only if the pixels have no alpha, which `luma` would lose.
    var hasLuma: Bool { bands == 1 || bands == 3 }

    /// The samples of the next row, valid until the next call. Nil after the last row, and from the first damage on.
    func next() -> UnsafePointer<UInt8>? { png_rows_next(rows) }

    /// The luma of all pixels. Nil if they have alpha, if the file is damaged, or if memory can't be allocated.
    var luma: Planes? {
        guard hasLuma, let plane = Plane(width, height) else { return nil }
        for y in 0..<height {
            guard let row = next() else { return nil }
            let to = plane.bytes + y * plane.stride
            if bands == 1 { to.update(from: row, count: width) } else { png_rows_luma(row, to, width) }
        }
        return Planes(luma: plane, colours: [], shared: .none, range: .full)
    }

    /// A lazy picture of these pixels with the metadata of `picture`, which libvips reads from the same file. At the
    /// first damaged row libvips takes over, so a damaged picture has the same rows as if libvips had read all of it.
    func picture(like picture: Picture) throws -> Picture {
        let pixels = Unmanaged.passRetained(self)
        return try picture.then { picture, out in
            cvips_read_rows(
                picture, out, { pixels in pixels.flatMap { PNGPixels.from($0).next() } }, pixels.toOpaque(),
                { pixels in if let pixels { Unmanaged<PNGPixels>.fromOpaque(pixels).release() } })
        }
    }

    private static func from(_ data: UnsafeMutableRawPointer) -> PNGPixels {
        Unmanaged.fromOpaque(data).takeUnretainedValue()
    }
}

extension SourceFile {
    /// The pixels of a common PNG whose header is `picture`. Nil for every other file, and if libvips reads all PNGs.
    func pngPixels(of picture: Picture) -> PNGPixels? {
        // If damaged files are accepted, libvips decides which of their rows can be used.
        guard format == .png, decoders.png == .own, !acceptsDamage,
            let pixels = PNGPixels(content, size: size), picture.format == VIPS_FORMAT_UCHAR,
            (pixels.width, pixels.height, pixels.bands) == (picture.width, picture.height, picture.bands)
        else { return nil }
        return pixels
    }
}
