/// The pixels of a run-length encoded BMP.
struct BMPRuns {
    /// Palette indices, bottom row first. Pixels that the file leaves out have the first colour.
    private(set) var indices: [UInt8]

    private enum Mark: UInt8 {
        case endOfRow, endOfPicture, move
    }

    /// Nil if the bytes end before the end of the picture.
    init?(_ header: BMP, _ bytes: [UInt8]) {
        indices = Array(repeating: 0, count: header.width * header.height)
        let isOfFour = header.compression == .rle4
        var (at, x, y) = (0, 0, 0)
        func set(_ index: UInt8, _ all: inout [UInt8]) {
            if x < header.width, y < header.height { all[y * header.width + x] = index }
            x += 1
        }
        while y < header.height {
            guard at + 1 < bytes.count else { return nil }
            let (count, value) = (Int(bytes[at]), bytes[at + 1])
            at += 2
            if count > 0 {
                for step in 0..<count { set(isOfFour ? (step % 2 == 0 ? value >> 4 : value & 15) : value, &indices) }
                continue
            }
            switch Mark(rawValue: value) {
            case .endOfRow: (x, y) = (0, y + 1)
            case .endOfPicture: return
            case .move:
                guard at + 1 < bytes.count else { return nil }
                (x, y) = (x + Int(bytes[at]), y + Int(bytes[at + 1]))
                at += 2
            case nil:
                let length = isOfFour ? (Int(value) + 1) / 2 : Int(value)
                guard at + length <= bytes.count else { return nil }
                for step in 0..<Int(value) {
                    let byte = bytes[at + (isOfFour ? step / 2 : step)]
                    set(isOfFour ? (step % 2 == 0 ? byte >> 4 : byte & 15) : byte, &indices)
                }
                // Literal pixels are padded to an even number of bytes.
                at += length + length % 2
            }
        }
    }
}
