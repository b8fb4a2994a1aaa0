/// The number format of a TIFF: its byte order, and whether it is a BigTIFF, whose offsets have eight bytes.
struct TIFFForm: Equatable {
    var isBigEndian: Bool
    var isBig: Bool

    /// The size of an offset, and of a value that is stored in the entry itself.
    var placeSize: Int { isBig ? 8 : 4 }
    /// The size of the entry count at the start of a directory.
    var countSize: Int { isBig ? 8 : 2 }
    var entrySize: Int { isBig ? 20 : 12 }
    /// The offset of the header's pointer to the first directory.
    var firstPlace: Int { isBig ? 8 : 4 }

    /// Reads a number and caps it, because a damaged file may contain any number and sums must not overflow.
    func number(_ bytes: some BidirectionalCollection<UInt8>) -> Int {
        let value =
            isBigEndian
            ? bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            : bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(min(value, 1 << 48))
    }

    func bytes(_ number: Int, _ count: Int) -> [UInt8] {
        let little = (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        return isBigEndian ? little.reversed() : little
    }

    static func size(of type: Int) -> Int {
        switch type {
        case 3, 8: 2
        case 4, 9, 11, 13: 4
        case 5, 10, 12, 16, 17, 18: 8
        default: 1
        }
    }

    /// The size of the units whose bytes are reversed when the byte order changes. A fraction consists of two such
    /// units.
    static func unit(of type: Int) -> Int { type == 5 || type == 10 ? 4 : size(of: type) }
}
