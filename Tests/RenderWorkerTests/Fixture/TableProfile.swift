import Foundation

/// A colour profile with tables from device colours to Lab and without a matrix, as used by printers, scanners and many
/// cameras.
struct TableProfile: Sendable {
    /// `GRAY`, `RGB ` or `CMYK`.
    var space: String
    /// `A2B0` is for the perceptual intent, `A2B1` for relative colorimetric, and `A2B2` for saturation.
    var tags = ["A2B0"]
    var kind = "prtr"
    private let table: [UInt8]

    static let grey = TableProfile("GRAY", 1, points: 129) { [$0[0] * $0[0], $0[0] * $0[0], $0[0] * $0[0]] }
    static let turnedColours = TableProfile("RGB ", 3, points: 17) { [$0[1], $0[2], $0[0]] }
    static let inks = TableProfile("CMYK", 4, points: 9) { inks in (0..<3).map { (1 - inks[$0]) * (1 - inks[3]) } }

    /// Returns a JPEG with a device-link profile. Such a profile converts between two devices, and is useless for other
    /// purposes.
    static func linkedPicture() throws -> TemporaryFile {
        var link = turnedColours
        link.kind = "link"
        return try Pixels.colourful(400, 300).file(.jpeg) {
            $0.set("icc-profile-data", link.bytes)
            return $0
        }
    }

    /// `colour` converts device values to sRGB. All values range from 0 to 1.
    private init(_ space: String, _ channels: Int, points: Int, colour: ([Double]) -> [Double]) {
        self.space = space
        table = Self.table(channels, points, colour)
    }

    var bytes: [UInt8] {
        let tags =
            [("wtpt", Array("XYZ ".utf8) + Self.long(0) + Self.white.flatMap(Self.fixed))] + tags.map { ($0, table) }
        var directory = Self.long(tags.count), data: [UInt8] = []
        for (name, bytes) in tags {
            directory += Array(name.utf8) + Self.long(132 + 12 * tags.count + data.count) + Self.long(bytes.count)
            data += bytes + Array(repeating: 0, count: (4 - bytes.count % 4) % 4)
        }
        let head: [UInt8] =
            Self.long(132 + 12 * tags.count + data.count) + Self.long(0) + Self.long(0x0240_0000) + Array(kind.utf8)
            + Array(space.utf8) + Array("Lab ".utf8) + Array(repeating: 0, count: 12) + Array("acsp".utf8)
            + Array(repeating: 0, count: 28) + Self.white.flatMap(Self.fixed)
        return head + Array(repeating: 0, count: 128 - head.count) + directory + data
    }

    private static let white = [0.9642, 1, 0.8249]

    /// Returns an ICC table of type `lut16Type`.
    private static func table(_ channels: Int, _ points: Int, _ colour: ([Double]) -> [Double]) -> [UInt8] {
        let straight: [UInt8] = [0, 0, 255, 255]
        var cells: [UInt8] = []
        for index in 0..<Int(pow(Double(points), Double(channels))) {
            var rest = index
            var device = Array(repeating: 0.0, count: channels)
            for channel in device.indices.reversed() {
                device[channel] = Double(rest % points) / Double(points - 1)
                rest /= points
            }
            cells += lab(colour(device)).flatMap(short)
        }
        let unchanged = [1.0, 0, 0, 0, 1, 0, 0, 0, 1].flatMap(fixed)
        return Array("mft2".utf8) + long(0) + [UInt8(channels), 3, UInt8(points), 0] + unchanged + short(2) + short(2)
            + Array(repeating: straight, count: channels).joined() + cells + straight + straight + straight
    }

    /// Converts sRGB to 16-bit Lab as the tables store it.
    private static func lab(_ sRGB: [Double]) -> [Double] {
        let linear = sRGB.map { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
        let rows = [[0.4361, 0.3851, 0.1431], [0.2225, 0.7169, 0.0606], [0.0139, 0.0971, 0.7141]]
        let f = zip(rows, white).map { row, white in
            let part = zip(row, linear).map(*).reduce(0, +) / white
            return part > 216.0 / 24389 ? cbrt(part) : (24389.0 / 27 * part + 16) / 116
        }
        return [(116 * f[1] - 16) * 652.8, (500 * (f[0] - f[1]) + 128) * 256, (200 * (f[1] - f[2]) + 128) * 256]
    }

    private static func long(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(value >> $0 & 255) } }
    private static func fixed(_ value: Double) -> [UInt8] { long(Int((value * 65536).rounded())) }
    private static func short(_ value: Double) -> [UInt8] { short(Int(max(0, min(65535, value.rounded())))) }
    private static func short(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }
}
