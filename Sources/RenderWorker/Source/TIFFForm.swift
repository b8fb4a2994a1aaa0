/// How a TIFF writes its numbers: which byte comes first, and whether it is a BigTIFF, whose places have eight bytes.
struct TIFFForm: Equatable {
    var isBigEndian: Bool
    var isBig: Bool

    /// Of a place in the file, and of what an entry holds itself.
    var placeSize: Int { isBig ? 8 : 4 }
    /// Of the number of entries, before them.
    var countSize: Int { isBig ? 8 : 2 }
    var entrySize: Int { isBig ? 20 : 12 }
    /// Where the header has the place of the first directory.
    var firstPlace: Int { isBig ? 8 : 4 }

    /// Of a damaged file it can be anything: kept so small that no sum with it overflows.
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

    /// Of one value of a type.
    static func size(of type: Int) -> Int {
        switch type {
        case 3, 8: 2
        case 4, 9, 11, 13: 4
        case 5, 10, 12, 16, 17, 18: 8
        default: 1
        }
    }

    /// Of what is swapped when the order of bytes changes: a fraction is two numbers.
    static func unit(of type: Int) -> Int { type == 5 || type == 10 ? 4 : size(of: type) }
}
