/// The boxes of a JPEG XL file. This type writes the metadata boxes itself, because libvips 8.14 writes neither EXIF
/// nor XMP. Later versions of libvips compress both, so few readers find them.
struct JXLContainer {
    /// The picture's size according to the file.
    let width: Int
    let height: Int
    private let boxes: [Boxes.Box]

    /// Nil when the file is not JPEG XL, or has no picture.
    init?(size: Int, _ read: (_ offset: Int, _ count: Int) -> [UInt8]?) {
        guard read(0, Self.signature.count) == Self.signature else { return nil }
        boxes = Boxes.all(size: size, read)
        guard let first = boxes.first(where: \.hasPicture),
            let start = read(first.content + (first.name == "jxlp" ? 4 : 0), Self.mostHeader),
            let size = Self.size(start)
        else { return nil }
        (width, height) = size
    }

    func has(_ name: String) -> Bool { boxes.contains { $0.name == name } }

    static let (exif, xmp) = ("Exif", "xml ")

    /// libjxl's `distance`, its measure of visible difference, for a quality on JPEG's scale. All versions of libvips
    /// compute the same distance for qualities from 30 up; below 30, some versions exceed libjxl's range.
    static func distance(of quality: Int) -> Double {
        quality >= 30 ? 0.1 + Double(100 - quality) * 0.09 : 6.4 + Double(30 - quality) * 0.29
    }

    /// Builds a file from the encoder's output, which is a bare codestream or already has boxes. Puts the metadata
    /// before the picture. Nil if the output is not JPEG XL.
    static func file(of encoded: [UInt8], exif block: [UInt8]?, xmp packet: [UInt8]?) -> [UInt8]? {
        var metadata: [UInt8] = []
        // The box's content begins with four bytes for the offset of the EXIF block, which is 0.
        if let block { metadata += box(exif, Array(repeating: 0, count: 4) + block) }
        if let packet { metadata += box(xmp, packet) }
        if encoded.starts(with: codestream) { return signature + type + metadata + box("jxlc", encoded) }
        let boxes = Boxes.all(size: encoded.count, SourceBytes.memory(encoded).exactly)
        guard encoded.starts(with: signature), let first = boxes.first(where: \.hasPicture)
        else { return nil }
        return encoded[..<first.start] + metadata + encoded[first.start...]
    }

    private static let signature = box("JXL ", [0x0d, 0x0a, 0x87, 0x0a])
    private static let type = box("ftyp", Array("jxl \0\0\0\0jxl ".utf8))
    private static let codestream: [UInt8] = [0xff, 0x0a]
    private static let form = TIFFForm(isBigEndian: true, isBig: false)

    private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let length = content.count + 8
        guard length > Int(UInt32.max) else { return form.bytes(length, 4) + Array(name.utf8) + content }
        return form.bytes(1, 4) + Array(name.utf8) + form.bytes(length + 8, 8) + content
    }

    private static let mostHeader = 14

    /// Reads the size from the start of the codestream, a sequence of bit fields with the lowest bit of each byte
    /// first.
    private static func size(_ start: [UInt8]) -> (width: Int, height: Int)? {
        guard start.starts(with: codestream) else { return nil }
        var at = 16
        func bits(_ count: Int) -> Int {
            defer { at += count }
            return (0..<count).reduce(0) { $0 | Int(start[(at + $1) / 8] >> ((at + $1) % 8) & 1) << $1 }
        }
        let isSmall = bits(1) == 1
        func side() -> Int { isSmall ? (bits(5) + 1) * 8 : bits([9, 13, 18, 30][bits(2)]) + 1 }
        let height = side()
        let ratios = [(1, 1), (12, 10), (4, 3), (3, 2), (16, 9), (5, 4), (2, 1)]
        let ratio = bits(3)
        guard ratio > 0 else { return (side(), height) }
        return (height * ratios[ratio - 1].0 / ratios[ratio - 1].1, height)
    }
}

extension Boxes.Box {
    fileprivate var hasPicture: Bool { name == "jxlc" || name == "jxlp" }
}
