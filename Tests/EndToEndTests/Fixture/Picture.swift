import Foundation

/// Pictures that the tests create without any library. PNGs contain uncompressed blocks.
enum Picture {
    /// A PNG of 32 × 24 pixels, which is rendered quickly.
    static let small = png(width: 32, height: 24)
    /// A grey JPEG of 32 × 16 pixels with a gain map of 8 × 4, as ISO 21496-1 defines it.
    static let withGainMap =
        Data(
            base64Encoded:
                "/9j/4gAidXJuOmlzbzpzdGQ6aXNvOnRzOjIxNDk2Oi0xAAAAAAD/4gBYTVBGAE1NACoAAAAIAAOwAAAHAAAABDAxMDCwAQAEAAAAAQAA"
                + "AAKwAgAHAAAAIAAAADIAAAAAAAMAAAAAAR4AAAAAAAAAAAAAAAAAAAD8AAAA8AAAAAD/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4M"
                + "ChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/wAALCAAQACABAREA/8QAFAAB"
                + "AAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AAAD/2f/Y/+IAW3Vybjppc286c3RkOmlzbzp0czoy"
                + "MTQ5NjotMQAAAAAAQAAAAAAAAAPoAAAJxAAAA+j///4MAAAD6AAACcQAAAPoAAAD6AAAA+gAAAAPAAAD6AAAAA8AAAPo/+AAEEpGSUYA"
                + "AQEAAAEAAQAA/9sAQwAQCwwODAoQDg0OEhEQExgoGhgWFhgxIyUdKDozPTw5Mzg3QEhcTkBEV0U3OFBtUVdfYmdoZz5NcXlwZHhcZWdj"
                + "/8AACwgABAAIAQERAP/EABQAAQAAAAAAAAAAAAAAAAAAAAD/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACAEBAAA/AD//2Q==")
        ?? Data()

    /// Returns a PNG with a colourful gradient.
    static func png(width: Int, height: Int) -> Data {
        var rows: [UInt8] = []
        rows.reserveCapacity((width * 3 + 1) * height)
        for y in 0..<height {
            rows.append(0)
            for x in 0..<width {
                rows.append(UInt8(x * 255 / max(1, width - 1)))
                rows.append(UInt8(y * 255 / max(1, height - 1)))
                rows.append(UInt8((x &+ y) & 255))
            }
        }
        var data = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
        data.append(chunk("IHDR", bytes(width) + bytes(height) + [8, 2, 0, 0, 0]))
        data.append(chunk("IDAT", stored(rows)))
        data.append(chunk("IEND", []))
        return data
    }

    /// Returns the size in the header of a JPEG, PNG or WebP.
    static func jpegSize(_ data: Data) -> (width: Int, height: Int)? {
        let bytes = [UInt8](data)
        var at = 2
        while at + 9 < bytes.count, bytes[at] == 0xff {
            if (0xc0...0xc2).contains(bytes[at + 1]) {
                return (Int(bytes[at + 7]) << 8 | Int(bytes[at + 8]), Int(bytes[at + 5]) << 8 | Int(bytes[at + 6]))
            }
            at += 2 + (Int(bytes[at + 2]) << 8 | Int(bytes[at + 3]))
        }
        return nil
    }

    /// Returns a TIFF that keeps a worker busy. It has many pixels in a small file, because all its strips refer to the
    /// same bytes.
    static func tiff(width: Int, height: Int) -> Data {
        let rows = 16
        let strips = (height + rows - 1) / rows
        let pixels = Data((0..<width * 3 * rows).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 5) })
        let entries = 9
        let tables = 8 + 2 + entries * 12 + 4
        let (offsets, counts, bits) = (tables, tables + strips * 4, tables + strips * 8)
        let data = bits + 6
        var file = Data("II*\0".utf8)
        func append(_ number: Int, _ bytes: Int) {
            for byte in 0..<bytes { file.append(UInt8(number >> (8 * byte) & 255)) }
        }
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) {
            append(tag, 2)
            append(type, 2)
            append(count, 4)
            append(value, 4)
        }
        append(8, 4)
        append(entries, 2)
        entry(256, 4, 1, width)
        entry(257, 4, 1, height)
        entry(258, 3, 3, bits)
        entry(259, 3, 1, 1)
        entry(262, 3, 1, 2)
        entry(273, 4, strips, offsets)
        entry(277, 3, 1, 3)
        entry(278, 4, 1, rows)
        entry(279, 4, strips, counts)
        append(0, 4)
        for _ in 0..<strips { append(data, 4) }
        for _ in 0..<strips { append(pixels.count, 4) }
        for _ in 0..<3 { append(8, 2) }
        return file + pixels
    }

    /// Returns a small TIFF with these texts as its two EXIF dates.
    static func dated(original: String, changed: String) -> Data {
        var file = Data("II*\0".utf8)
        func append(_ number: Int, _ bytes: Int) {
            for byte in 0..<bytes { file.append(UInt8(number >> (8 * byte) & 255)) }
        }
        func directory(_ entries: [(tag: Int, type: Int, count: Int, value: Int)]) {
            append(entries.count, 2)
            for entry in entries {
                append(entry.tag, 2)
                append(entry.type, 2)
                append(entry.count, 4)
                append(entry.value, 4)
            }
            append(0, 4)
        }
        let (mainLength, belowLength) = (2 + 10 * 12 + 4, 2 + 12 + 4)
        let texts = 8 + mainLength + belowLength
        let (first, second) = (Data(original.utf8) + [0], Data(changed.utf8) + [0])
        // A text of up to four bytes would have to be stored in the directory entry itself, so pad the texts to this
        // length.
        let room = 24
        append(8, 4)
        directory([
            (256, 4, 1, 8), (257, 4, 1, 8), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1),
            (273, 4, 1, texts + 2 * room), (277, 3, 1, 1), (279, 4, 1, 64), (306, 2, room, texts + room),
            (34665, 4, 1, 8 + mainLength),
        ])
        directory([(36867, 2, room, texts)])
        for text in [first, second] { file += text.prefix(room) + Data(count: max(0, room - text.count)) }
        return file + Data((0..<64).map { UInt8($0 * 4) })
    }

    private static func bytes(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(number >> (24 - 8 * $0) & 255) } }

    static func chunk(_ type: String, _ body: [UInt8]) -> Data {
        let content = Array(type.utf8) + body
        return Data(bytes(body.count) + content + bytes(Int(crc(content))))
    }

    /// Returns a zlib stream of uncompressed blocks.
    private static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var out: [UInt8] = [0x78, 0x01]
        out.reserveCapacity(bytes.count + bytes.count / 65535 * 5 + 16)
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            a = (a + UInt32(byte)) % 65521
            b = (b + a) % 65521
        }
        var at = 0
        while at < bytes.count {
            let length = min(65535, bytes.count - at)
            out.append(at + length == bytes.count ? 1 : 0)
            out += [UInt8(length & 255), UInt8(length >> 8), UInt8(~length & 255), UInt8(~length >> 8 & 255)]
            out += bytes[at..<(at + length)]
            at += length
        }
        return out + Picture.bytes(Int(b << 16 | a))
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { crc, _ in crc & 1 == 1 ? 0xedb8_8320 ^ (crc >> 1) : crc >> 1 }
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { table[Int(($0 ^ UInt32($1)) & 255)] ^ ($0 >> 8) }
    }
}
