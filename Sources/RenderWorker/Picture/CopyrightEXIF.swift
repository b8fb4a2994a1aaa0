/// EXIF that says who made a picture and whose it is, and nothing else. Its texts are those of the original, byte for byte.
struct CopyrightEXIF {
    private static let tags: [(number: Int, field: String)] = [
        (0x013b, "exif-ifd0-Artist"), (0x8298, "exif-ifd0-Copyright"),
    ]
    private static let prefix = Array("Exif\0\0".utf8)

    /// libvips' names of what is in it.
    let fields: [String]
    let bytes: [UInt8]

    /// Nil when the original names neither.
    init?(of exif: [UInt8]) {
        let tiff = exif.starts(with: Self.prefix) ? exif.dropFirst(Self.prefix.count) : exif[...]
        let directory = TIFFDirectory { offset, count in
            let start = tiff.startIndex + offset
            return offset >= 0 && count >= 0 && count <= tiff.endIndex - start
                ? Array(tiff[start..<start + count]) : nil
        }
        guard let directory else { return nil }
        let found = Self.tags.compactMap { tag in
            directory.text(tag.number).map { (number: tag.number, field: tag.field, text: $0) }
        }
        guard !found.isEmpty else { return nil }
        fields = found.map(\.field)

        let start = 8
        var texts: [UInt8] = []
        var entries: [UInt8] = []
        let firstText = start + 2 + 12 * found.count + 4
        for item in found {
            // Four bytes or fewer lie in the entry itself.
            let isInline = item.text.count <= 4
            let value =
                isInline
                ? item.text + Array(repeating: 0, count: 4 - item.text.count) : Self.long(firstText + texts.count)
            entries += Self.short(item.number) + Self.short(2) + Self.long(item.text.count) + value
            if !isInline { texts += item.text + (item.text.count % 2 == 1 ? [0] : []) }
        }
        bytes =
            Self.prefix + Array("MM".utf8) + Self.short(42) + Self.long(start) + Self.short(found.count) + entries
            + Self.long(0) + texts
    }

    private static func short(_ value: Int) -> [UInt8] { [8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }

    private static func long(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
}
