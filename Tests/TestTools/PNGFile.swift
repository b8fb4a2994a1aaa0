/// A PNG that is assembled from parts, so that a test can make any of them unusual.
public struct PNGFile {
    public var width: Int
    public var height: Int
    /// 0 grey, 2 RGB, 3 a palette, 4 grey and alpha, 6 RGB and alpha.
    public var kind: UInt8
    public var bits: UInt8 = 8
    public var isInterlaced = false
    /// Chunks before and after the pixels.
    public var before: [(name: String, bytes: [UInt8])] = []
    public var behind: [(name: String, bytes: [UInt8])] = []
    /// The rows, filtered and then packed by zlib.
    public var packed: [UInt8]
    /// The number of packed bytes in each chunk of pixels.
    public var part = 8192

    public init(width: Int, height: Int, kind: UInt8, packed: [UInt8]) {
        (self.width, self.height, self.kind, self.packed) = (width, height, kind, packed)
    }

    public var bytes: [UInt8] {
        let header = Self.number(width) + Self.number(height) + [bits, kind, 0, 0, isInterlaced ? 1 : 0]
        let pixels = stride(from: 0, to: packed.count, by: part).map { Array(packed[$0...].prefix(part)) }
        let chunks = [("IHDR", header)] + before + pixels.map { ("IDAT", $0) } + behind + [("IEND", [])]
        return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + chunks.flatMap { Self.chunk($0.0, $0.1) }
    }

    public static func chunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
        let content = Array(name.utf8) + bytes
        return number(bytes.count) + content + number(Int(checksum(content)))
    }

    private static func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(value >> $0 & 255) } }

    private static let remainders: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { remainders[Int(($0 ^ UInt32($1)) & 255)] ^ $0 >> 8 }
    }
}

/// PNG's filters, as its specification describes them.
extension PNGFile {
    /// Returns the filtered rows. Each row begins with the number of its filter, which `choose` returns.
    public static func filtered(_ rows: [[UInt8]], bytesPerPixel: Int, by choose: (_ row: Int) -> UInt8) -> [UInt8] {
        rows.indices.flatMap { y -> [UInt8] in
            let filter = choose(y)
            let above = y > 0 ? rows[y - 1] : [UInt8](repeating: 0, count: rows[y].count)
            return [filter]
                + rows[y].indices.map { rows[y][$0] &- prediction(filter, rows[y], above, $0, bytesPerPixel) }
        }
    }

    /// Returns the unfiltered rows, up to the first row that is incomplete or whose filter is invalid.
    public static func unfiltered(_ bytes: [UInt8], width: Int, bytesPerPixel: Int) -> [[UInt8]] {
        let count = width * bytesPerPixel
        var rows: [[UInt8]] = []
        var above = [UInt8](repeating: 0, count: count)
        for start in stride(from: 0, through: bytes.count - count - 1, by: count + 1) where bytes[start] < 5 {
            var row = Array(bytes[start + 1..<start + 1 + count])
            for x in row.indices { row[x] &+= prediction(bytes[start], row, above, x, bytesPerPixel) }
            rows.append(row)
            above = row
        }
        return rows
    }

    private static func prediction(
        _ filter: UInt8, _ row: [UInt8], _ above: [UInt8], _ x: Int, _ bytesPerPixel: Int
    ) -> UInt8 {
        let isFirst = x < bytesPerPixel
        let left = isFirst ? 0 : Int(row[x - bytesPerPixel]), up = Int(above[x])
        let corner = isFirst ? 0 : Int(above[x - bytesPerPixel])
        switch filter {
        case 1: return UInt8(left)
        case 2: return UInt8(up)
        case 3: return UInt8((left + up) / 2)
        case 4:
            let distances = [left, up, corner].map { abs(left + up - corner - $0) }
            let least = distances.min()
            return UInt8(distances[0] == least ? left : distances[1] == least ? up : corner)
        default: return 0
        }
    }
}
