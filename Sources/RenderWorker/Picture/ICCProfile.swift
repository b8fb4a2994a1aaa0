import CVips
import Foundation

/// A colour profile: its name, its colour space, the rendering intent that it supports, and whether it is sRGB.
struct ICCProfile {
    static let field = "icc-profile-data"

    /// Name of the colour space, such as RGB, GRAY or CMYK, without the padding of `RGB `.
    let space: String
    private let bytes: [UInt8]
    private let tags: [String: Range<Int>]

    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 132, bytes[36..<40].elementsEqual("acsp".utf8) else { return nil }
        self.bytes = bytes
        space = String(decoding: bytes[16..<20], as: UTF8.self).trimmingCharacters(in: .whitespaces)
        let count = min(bytes.bigEndian32(at: 128) ?? 0, 100)
        var tags: [String: Range<Int>] = [:]
        for entry in stride(from: 132, to: 132 + 12 * count, by: 12) {
            guard let offset = bytes.bigEndian32(at: entry + 4), let size = bytes.bigEndian32(at: entry + 8),
                offset <= bytes.count, size <= bytes.count - offset
            else { continue }
            tags[String(decoding: bytes[entry..<entry + 4], as: UTF8.self)] = offset..<offset + size
        }
        self.tags = tags
    }

    /// The profile's description, in the format of version 2 (ASCII) or version 4 (UTF-16).
    var name: String? {
        guard let tag = tags["desc"], tag.count > 12 else { return nil }
        let data = Array(bytes[tag])
        if data.starts(with: Array("desc".utf8)), let length = data.bigEndian32(at: 8), data.count >= 12 + length {
            return clean(String(decoding: data[12..<12 + length], as: UTF8.self))
        }
        guard data.starts(with: Array("mluc".utf8)), let length = data.bigEndian32(at: 20),
            let offset = data.bigEndian32(at: 24), offset <= data.count, length <= data.count - offset
        else { return nil }
        let units = stride(from: offset, to: offset + length - 1, by: 2).map {
            UInt16(data[$0]) << 8 | UInt16(data[$0 + 1])
        }
        return clean(String(decoding: units, as: UTF16.self))
    }

    /// Whether the profile describes the colours of a camera, scanner, screen or printer. Device links and abstract
    /// profiles don't.
    var isOfDevice: Bool { ["scnr", "mntr", "prtr", "spac"].contains { bytes[12..<16].elementsEqual($0.utf8) } }

    /// A rendering intent that the profile supports, or nil. libvips ignores the profile for any other intent. A lookup
    /// table serves one intent only; a matrix with curves, or a single curve, serves all intents.
    var intent: VipsIntent? {
        if tags["A2B1"] != nil || tags["kTRC"] != nil || tags["rXYZ"] != nil { return VIPS_INTENT_RELATIVE }
        if tags["A2B0"] != nil { return VIPS_INTENT_PERCEPTUAL }
        return tags["A2B2"] != nil ? VIPS_INTENT_SATURATION : nil
    }

    /// Whether the profile has sRGB's primaries and curves, under any name. A transform to sRGB would then change
    /// nothing.
    var isSRGB: Bool {
        guard space == "RGB" else { return false }
        let primaries: [(tag: String, xyz: [Double])] = [
            ("rXYZ", [0.4361, 0.2225, 0.0139]), ("gXYZ", [0.3851, 0.7169, 0.0971]), ("bXYZ", [0.1431, 0.0606, 0.7141]),
        ]
        // A profile that has lookup tables uses them instead of the primaries.
        guard !tags.keys.contains(where: { $0.hasPrefix("A2B") || $0.hasPrefix("D2B") }) else { return false }
        return primaries.allSatisfy { primary in
            guard let xyz = xyz(primary.tag) else { return false }
            return zip(xyz, primary.xyz).allSatisfy { abs($0 - $1) < 0.003 }
        } && ["rTRC", "gTRC", "bTRC"].allSatisfy(hasCurveOfSRGB)
    }

    private func xyz(_ tag: String) -> [Double]? {
        guard let range = tags[tag], range.count >= 20 else { return nil }
        return (0..<3).compactMap { bytes.bigEndian32(at: range.lowerBound + 8 + 4 * $0) }.map {
            Double(Int32(truncatingIfNeeded: $0)) / 65536
        }
    }

    private func hasCurveOfSRGB(_ tag: String) -> Bool {
        guard let range = tags[tag], range.count >= 12 else { return false }
        let data = Array(bytes[range])
        if data.starts(with: Array("para".utf8)) {
            guard data.count >= 32, data[8] == 0, data[9] == 3, let gamma = data.bigEndian32(at: 12) else {
                return false
            }
            return abs(Double(gamma) / 65536 - 2.4) < 0.01
        }
        guard data.starts(with: Array("curv".utf8)), let count = data.bigEndian32(at: 8), count >= 256,
            data.count >= 12 + 2 * count
        else { return false }
        return [0.25, 0.5, 0.75].allSatisfy { x in
            let index = 12 + 2 * Int(x * Double(count - 1))
            let value = Double(Int(data[index]) << 8 | Int(data[index + 1])) / 65535
            return abs(value - pow((x + 0.055) / 1.055, 2.4)) < 0.01
        }
    }

    private func clean(_ text: String) -> String? {
        let text = text.trimmingCharacters(in: .controlCharacters.union(.whitespaces))
        return text.isEmpty ? nil : text
    }
}

extension [UInt8] {
    fileprivate func bigEndian32(at index: Int) -> Int? {
        guard index >= 0, index + 4 <= count else { return nil }
        return self[index..<index + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
