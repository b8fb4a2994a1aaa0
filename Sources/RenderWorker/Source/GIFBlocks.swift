/// Follows the blocks of a GIF to the end marker, because libvips accepts a truncated GIF as a shorter animation.
struct GIFBlocks {
    var file: FileWindow

    private static let (frame, extension_, end): (UInt8, UInt8, UInt8) = (0x2c, 0x21, 0x3b)

    /// Whether the blocks reach the end marker. Bytes after the end marker do no harm.
    mutating func areWhole() -> Bool {
        let header = 13
        guard let flags = file.byte(10) else { return false }
        var at = header + Self.paletteSize(flags)
        while let kind = file.byte(at) {
            switch kind {
            case Self.end: return true
            case Self.extension_: at += 2
            case Self.frame:
                guard let flags = file.byte(at + 9) else { return false }
                // A byte with the initial code size precedes the pixels.
                at += 11 + Self.paletteSize(flags)
            default: return false
            }
            while let length = file.byte(at), length > 0 { at += 1 + Int(length) }
            at += 1
        }
        return false
    }

    private static func paletteSize(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
}
