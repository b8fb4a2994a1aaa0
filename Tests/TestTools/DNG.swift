import Foundation

/// A synthetic camera file (DNG): samples of a colour filter mosaic, and optionally a preview.
public struct DNG {
    private let width: Int
    private let height: Int
    /// Red, green and blue samples of each pixel.
    private let colours: [UInt16]
    public var preview: [UInt8]?
    public var orientation = 1
    /// The size that the file declares, if it differs from the true one.
    public var claimed: (width: Int, height: Int)?

    /// The sensor's response to white.
    private let neutral = (red: 0.5, green: 1.0, blue: 0.7)
    private let make = "Ada"
    private let model = "Difference Engine"

    /// `colours` are 8-bit samples: red, green and blue of each pixel.
    public init(_ width: Int, _ height: Int, colours: [UInt16], preview: [UInt8]? = nil) {
        (self.width, self.height, self.colours, self.preview) = (width, height, colours, preview)
    }

    private struct Entry {
        var tag: Int
        var type: Int
        var count: Int
        var bytes: [UInt8]
    }

    /// The linear light of each gamma-encoded value, as a sensor measures it.
    private static let light = (0..<256).map { value in
        let part = Double(value) / 255
        return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }

    /// The samples of the mosaic, in the order red, green, green, blue.
    private var samples: [UInt8] {
        let white = 60000.0
        let answers = [neutral.red, neutral.green, neutral.blue].map { factor in
            Self.light.map { UInt16(min(white, $0 * factor * white)) }
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(width * height * 2)
        for y in 0..<height {
            for x in 0..<width {
                let band = (x & 1) + (y & 1)
                let value = answers[band][Int(colours[(y * width + x) * 3 + band])]
                bytes.append(UInt8(truncatingIfNeeded: value))
                bytes.append(UInt8(value >> 8))
            }
        }
        return bytes
    }

    private static func number(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static func short(_ tag: Int, _ values: Int...) -> Entry {
        Entry(tag: tag, type: 3, count: values.count, bytes: values.flatMap { number($0, 2) })
    }

    private static func long(_ tag: Int, _ values: Int...) -> Entry {
        Entry(tag: tag, type: 4, count: values.count, bytes: values.flatMap { number($0, 4) })
    }

    private static func bytes(_ tag: Int, _ values: [UInt8]) -> Entry {
        Entry(tag: tag, type: 1, count: values.count, bytes: values)
    }

    private static func text(_ tag: Int, _ text: String) -> Entry {
        Entry(tag: tag, type: 2, count: text.utf8.count + 1, bytes: Array(text.utf8) + [0])
    }

    private static func fractions(_ tag: Int, _ values: [Double], signed: Bool = false) -> Entry {
        Entry(
            tag: tag, type: signed ? 10 : 5, count: values.count,
            bytes: values.flatMap { number(Int(($0 * 100_000).rounded()), 4) + number(100_000, 4) })
    }

    /// Appends an image file directory (IFD) to the file; returns the directory's offset.
    private static func append(_ entries: [Entry], to file: inout [UInt8]) -> Int {
        var places: [Int] = []
        for entry in entries {
            if file.count % 2 == 1 { file.append(0) }
            places.append(file.count)
            if entry.bytes.count > 4 { file += entry.bytes }
        }
        if file.count % 2 == 1 { file.append(0) }
        let start = file.count
        file += number(entries.count, 2)
        for (entry, place) in zip(entries, places).sorted(by: { $0.0.tag < $1.0.tag }) {
            file += number(entry.tag, 2) + number(entry.type, 2) + number(entry.count, 4)
            file += entry.bytes.count > 4 ? number(place, 4) : Array((entry.bytes + [0, 0, 0, 0])[..<4])
        }
        file += number(0, 4)
        return start
    }

    /// The file. Its samples follow all directories, as in most cameras' files.
    public var bytes: [UInt8] {
        var file = Array("II".utf8) + [42, 0, 0, 0, 0, 0]
        var below: Int?
        if let preview {
            let place = file.count
            file += preview
            let size = preview.frameSize
            below = Self.append(
                [
                    Self.long(254, 1), Self.long(256, size.width), Self.long(257, size.height),
                    Self.short(258, 8, 8, 8),
                    Self.short(259, 7), Self.short(262, 6), Self.long(273, place), Self.short(277, 3),
                    Self.long(278, size.height), Self.long(279, preview.count),
                ], to: &file)
        }
        let exif = Self.append(
            [
                Self.fractions(0x829a, [0.004]), Self.fractions(0x829d, [2.8]), Self.short(0x8827, 400),
                Self.text(0x9003, "2024:05:06 07:08:09"),
                Entry(tag: 0x927c, type: 7, count: 1000, bytes: Array(repeating: 7, count: 1000)),
            ], to: &file)
        let samples = samples
        let (width, height) = (claimed?.width ?? width, claimed?.height ?? height)
        // The colour matrix of a camera whose sensor responds as sRGB does, in daylight.
        let matrix = [
            3.24045, -1.53714, -0.49853, -0.96927, 1.87601, 0.04156, 0.05564, -0.20403, 1.05723,
        ]
        var entries = [
            Self.long(254, 0), Self.long(256, width), Self.long(257, height), Self.short(258, 16), Self.short(259, 1),
            Self.short(262, 32803), Self.text(271, make), Self.text(272, model), Self.long(273, 0),
            Self.short(274, orientation), Self.short(277, 1), Self.long(278, height), Self.long(279, samples.count),
            Self.text(315, "Ada Lovelace"), Self.short(33421, 2, 2), Self.bytes(33422, [0, 1, 1, 2]),
            Self.long(34665, exif),
            Self.bytes(50706, [1, 4, 0, 0]), Self.text(50708, "\(make) \(model)"), Self.short(50714, 0),
            Self.long(50717, 60000),
            Self.fractions(50721, matrix, signed: true),
            Self.fractions(50728, [neutral.red, neutral.green, neutral.blue]),
            Self.short(50778, 21),
        ]
        if let below { entries.append(Self.long(330, below)) }
        // The samples follow the directory, whose length does not depend on its values. To find the samples' offset,
        // append the directory to a copy of the file first.
        var end = file
        _ = Self.append(entries, to: &end)
        if let index = entries.firstIndex(where: { $0.tag == 273 }) { entries[index] = Self.long(273, end.count) }
        let first = Self.append(entries, to: &file)
        file.replaceSubrange(4..<8, with: Self.number(first, 4))
        return file + samples
    }
}

extension [UInt8] {
    /// The size in the frame header of the JPEG.
    fileprivate var frameSize: (width: Int, height: Int) {
        guard
            let frame = indices.first(where: {
                self[$0...].starts(with: [0xff, 0xc0]) || self[$0...].starts(with: [0xff, 0xc2])
            })
        else { return (0, 0) }
        func number(_ at: Int) -> Int { Int(self[frame + at]) << 8 | Int(self[frame + at + 1]) }
        return (number(7), number(5))
    }
}
