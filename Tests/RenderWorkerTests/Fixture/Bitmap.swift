/// A BMP that is written without a library.
struct Bitmap {
    var width: Int
    var height: Int
    var bits: Int
    /// The bytes of each row, top row first. When they are written, rows are padded to a multiple of four bytes.
    var rows: [[UInt8]]
    var isTopDown = false
    var headerLength = 40
    var compression = 0
    var masks: [UInt32] = []
    var palette: [[UInt8]] = []
    var profile: [UInt8] = []
    /// Run-length encoded pixels, which replace `rows`.
    var runs: [UInt8]?

    static func number(_ number: Int, _ count: Int = 4) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    var bytes: [UInt8] {
        let isOld = headerLength == 12
        let stored = isTopDown ? rows : rows.reversed()
        var pixels = runs ?? []
        if runs == nil {
            for row in stored { pixels += row + Array(repeating: 0, count: (4 - row.count % 4) % 4) }
        }
        var header = Self.number(headerLength)
        let heights = isTopDown ? -height : height
        header +=
            Self.number(width, isOld ? 2 : 4) + Self.number(heights, isOld ? 2 : 4) + [1, 0] + Self.number(bits, 2)
        if !isOld {
            header += Self.number(compression) + Self.number(pixels.count) + Self.number(2835) + Self.number(2835)
            header += Self.number(palette.count) + Self.number(0)
        }
        let masks = masks.flatMap { Self.number(Int($0)) }
        if headerLength > 40 { header += masks }
        header += Array(repeating: 0, count: max(0, headerLength - header.count))
        if headerLength == 40 { header += masks }
        var table: [UInt8] = []
        for colour in palette { table += colour.reversed() + (isOld ? [] : [0]) }
        let start = 14 + header.count + table.count
        if !profile.isEmpty {
            header.replaceSubrange(56..<60, with: Self.number(0x4d42_4544))
            header.replaceSubrange(112..<120, with: Self.number(start - 14 + pixels.count) + Self.number(profile.count))
        }
        var file = Array("BM".utf8)
        file += Self.number(start + pixels.count + profile.count) + [0, 0, 0, 0] + Self.number(start)
        return file + header + table + pixels + profile
    }

    var file: TemporaryFile { get throws { try TemporaryFile(bytes) } }
}
