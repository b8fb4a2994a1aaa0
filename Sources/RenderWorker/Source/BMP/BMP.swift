import CVips

/// The header of a BMP, as Windows and scanners write it. Every field is checked before it is used.
struct BMP {
    enum Compression: Int {
        case none, rle8, rle4, masks
        case masksWithAlpha = 6
    }

    /// The bits of a pixel that hold one colour.
    struct Mask: Equatable {
        private let bits: UInt32
        private let most: UInt32

        init(_ bits: UInt32) {
            self.bits = bits
            most = bits >> UInt32(bits.trailingZeroBitCount)
        }

        var isEmpty: Bool { bits == 0 }
        /// Whether the mask's bits are adjacent.
        var isWhole: Bool { most & (most &+ 1) == 0 }

        /// The colour as a byte, rounded.
        func value(_ pixel: UInt32) -> UInt8 {
            guard bits != 0 else { return 0 }
            let value = UInt64(pixel & bits) >> UInt64(bits.trailingZeroBitCount)
            return UInt8((value * 255 + UInt64(most) / 2) / UInt64(most))
        }
    }

    let width: Int
    let height: Int
    let isTopDown: Bool
    let bitsPerPixel: Int
    let compression: Compression
    /// Masks of red, green, blue and alpha, for pixels of 16 and 32 bits.
    let masks: [Mask]
    /// The colours of the palette, three bytes each; empty if pixels contain colours instead of indices.
    let palette: [[UInt8]]
    /// The offset of the pixels in the file.
    let start: Int
    /// Pixels per metre.
    let resolution: (across: Int, down: Int)
    let profile: [UInt8]?

    private static let fileHeader = 14
    private static let lengths: Set = [12, 40, 52, 56, 64, 108, 124]
    private static let mostProfile = 4 << 20

    /// Checks the length of the header as well as the letters BM, because a text may begin with the same letters.
    static func isBMP(_ bytes: [UInt8]) -> Bool {
        bytes.starts(with: "BM".utf8) && bytes.count >= 18 && lengths.contains(number(bytes[14..<18]))
    }

    init(size: Int, _ read: (_ offset: Int, _ count: Int) -> [UInt8]?) throws(VipsError) {
        func odd(_ words: String) -> VipsError { VipsError(lines: ["bmp: " + words]) }
        guard let file = read(0, Self.fileHeader + 4), let header = read(Self.fileHeader, Self.number(file[14...]))
        else {
            throw odd("unexpected end of file")
        }
        let length = header.count
        func number(_ at: Int, _ count: Int = 4) -> Int {
            at + count <= length ? Self.number(header[at..<at + count]) : 0
        }
        let isOld = length == 12
        width = isOld ? number(4, 2) : Int(Int32(truncatingIfNeeded: number(4)))
        let rows = isOld ? number(6, 2) : Int(Int32(truncatingIfNeeded: number(8)))
        (height, isTopDown) = (abs(rows), rows < 0)
        bitsPerPixel = isOld ? number(10, 2) : number(14, 2)
        // In OS/2's header, which has 64 bytes, the compression numbers from 3 on have other meanings.
        guard let compression = Compression(rawValue: number(16)), length != 64 || compression.rawValue < 3 else {
            throw odd("its pixels are compressed in a way that is not read")
        }
        self.compression = compression
        // libvips itself limits each side to this size.
        guard (1...10_000_000).contains(width), (1...10_000_000).contains(height) else { throw odd("it has no pixels") }
        let depths =
            switch compression {
            case .none: [1, 4, 8, 16, 24, 32]
            case .rle8: [8]
            case .rle4: [4]
            case .masks, .masksWithAlpha: [16, 32]
            }
        guard depths.contains(bitsPerPixel) else { throw odd("it has pixels of \(bitsPerPixel) bits") }
        guard compression == .none || !isTopDown || bitsPerPixel >= 16 else {
            throw odd("it is compressed from top to bottom")
        }

        var colours = Self.fileHeader + length
        if compression == .masks || compression == .masksWithAlpha {
            // Masks follow a header of 40 bytes; longer headers contain them.
            let count = compression == .masks ? 3 : 4
            guard let all = length == 40 ? read(colours, 4 * count) : Array(header[40..<min(length, 56)]) else {
                throw odd("unexpected end of file")
            }
            if length == 40 { colours += 4 * count }
            masks = (0..<4).map { index in
                index * 4 + 4 <= all.count
                    ? Mask(UInt32(truncatingIfNeeded: Self.number(all[index * 4..<index * 4 + 4]))) : Mask(0)
            }
            guard masks.allSatisfy(\.isWhole), !masks[..<3].allSatisfy(\.isEmpty) else {
                throw odd("its masks are odd")
            }
        } else {
            let usual: [UInt32] = bitsPerPixel == 16 ? [0x7c00, 0x3e0, 0x1f] : [0xff0000, 0xff00, 0xff]
            masks = usual.map(Mask.init) + [Mask(0)]
        }
        start = Self.number(file[10..<14])
        guard start >= colours, start < size else {
            throw odd(start < colours ? "its pixels begin in its header" : "unexpected end of file")
        }
        if bitsPerPixel <= 8 {
            let (bytes, used) = (isOld ? 3 : 4, number(32))
            let most = min(used == 0 ? 1 << bitsPerPixel : used, 1 << bitsPerPixel, (start - colours) / bytes)
            guard let table = read(colours, most * bytes), most > 0 else { throw odd("it has no colours") }
            palette = (0..<most).map { table[$0 * bytes..<$0 * bytes + 3].reversed() }
        } else {
            palette = []
        }
        resolution = (number(24), number(28))
        let (isEmbedded, place, count) = (number(56) == 0x4d42_4544, number(112), number(116))
        profile =
            length == 124 && isEmbedded && (1...Self.mostProfile).contains(count)
            ? read(Self.fileHeader + place, count) : nil
    }

    var hasAlpha: Bool { !masks[3].isEmpty }
    /// Whether the picture has a palette that consists of greys alone.
    var isGrey: Bool { !palette.isEmpty && palette.allSatisfy { $0[0] == $0[1] && $0[1] == $0[2] } }
    var bands: Int { isGrey ? 1 : hasAlpha ? 4 : 3 }
    var isCompressed: Bool { compression == .rle8 || compression == .rle4 }

    /// Rows begin at multiples of four bytes.
    var bytesPerRow: Int { (width * bitsPerPixel + 31) / 32 * 4 }
    /// The offset after the last pixel. For compressed pixels, whose length is unknown, the offset after their first
    /// byte.
    var end: Int { isCompressed ? start + 1 : start + bytesPerRow * height }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        TIFFForm(isBigEndian: false, isBig: false).number(bytes)
    }
}
