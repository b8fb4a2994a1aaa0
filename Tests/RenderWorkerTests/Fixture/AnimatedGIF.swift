/// A GIF that is written without a library. Its frames have plain colours, and the test chooses their durations,
/// positions and disposal.
struct AnimatedGIF {
    struct Frame {
        /// An index into the palette, in which colour `n` is `(n, 255 - n, 100)`.
        var colour: UInt8
        /// Duration in hundredths of a second.
        var delay = 10
        /// What happens to the frame afterwards: 1 keeps it, 2 makes its area transparent, 3 restores the previous
        /// content.
        var disposal = 1
        var place: (x: Int, y: Int, width: Int, height: Int)?
    }

    var width = 40
    var height = 30
    /// The number of repetitions. 0 means for ever, and nil means none.
    var loop: Int? = 0
    var frames: [Frame]

    static func colour(_ number: UInt8) -> [Int] { [Int(number), 255 - Int(number), 100] }

    var bytes: [UInt8] {
        func little(_ number: Int) -> [UInt8] { [UInt8(number & 255), UInt8(number >> 8)] }
        var bytes = Array("GIF89a".utf8) + little(width) + little(height) + [0xf7, 0, 0]
        bytes += (0...255).flatMap { [UInt8($0), UInt8(255 - $0), 100] }
        if let loop { bytes += [0x21, 0xff, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + little(loop) + [0] }
        for frame in frames {
            let place = frame.place ?? (0, 0, width, height)
            bytes += [0x21, 0xf9, 4, UInt8(frame.disposal << 2)] + little(frame.delay) + [0, 0, 0x2c]
            bytes += [place.x, place.y, place.width, place.height].flatMap(little) + [0]
            bytes += Self.compressed(frame.colour, count: place.width * place.height)
        }
        return bytes + [0x3b]
    }

    /// Returns LZW codes without compression: the code table is cleared before its codes become longer.
    private static func compressed(_ colour: UInt8, count: Int) -> [UInt8] {
        var (packed, bits, filled) = ([UInt8](), 0, 0)
        func put(_ code: Int) {
            bits |= code << filled
            filled += 9
            while filled >= 8 {
                packed.append(UInt8(bits & 255))
                (bits, filled) = (bits >> 8, filled - 8)
            }
        }
        for pixel in 0..<count {
            if pixel % 200 == 0 { put(256) }
            put(Int(colour))
        }
        put(257)
        if filled > 0 { packed.append(UInt8(bits & 255)) }
        let blocks = stride(from: 0, to: packed.count, by: 255).flatMap { start in
            let block = packed[start..<min(start + 255, packed.count)]
            return [UInt8(block.count)] + block
        }
        return [8] + blocks + [0]
    }

    func file() throws -> TemporaryFile { try TemporaryFile(bytes) }
}

/// The durations of the frames in milliseconds, and the number of repetitions, read from a file's bytes.
struct Timing: Equatable {
    var delays: [Int] = []
    /// 0 means for ever, and nil means none. In a WebP, the first run counts as well.
    var loop: Int?

    init(delays: [Int], loop: Int?) { (self.delays, self.loop) = (delays, loop) }

    init(_ file: TemporaryFile) throws {
        let bytes = try file.bytes
        if bytes.starts(with: "RIFF".utf8) { readWebP(bytes) } else { readGIF(bytes) }
    }

    private mutating func readWebP(_ bytes: [UInt8]) {
        func number(_ at: Int, _ count: Int) -> Int {
            bytes[at..<at + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        var at = 12
        while at + 8 <= bytes.count {
            let (name, length) = (String(decoding: bytes[at..<at + 4], as: UTF8.self), number(at + 4, 4))
            if name == "ANIM" {
                let times = number(at + 12, 2)
                loop = times == 0 ? 0 : times == 1 ? nil : times - 1
            }
            if name == "ANMF" { delays.append(number(at + 8 + 12, 3)) }
            at += 8 + length + length % 2
        }
    }

    private mutating func readGIF(_ bytes: [UInt8]) {
        func number(_ at: Int) -> Int { Int(bytes[at]) | Int(bytes[at + 1]) << 8 }
        func palette(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
        func end(ofBlocks start: Int) -> Int {
            var at = start
            while bytes[at] != 0 { at += 1 + Int(bytes[at]) }
            return at + 1
        }
        var (at, delay) = (13 + palette(bytes[10]), 0)
        while at < bytes.count, bytes[at] != 0x3b {
            if bytes[at] == 0x2c {
                delays.append(delay * 10)
                at = end(ofBlocks: at + 10 + palette(bytes[at + 9]) + 1)
                continue
            }
            if bytes[at + 1] == 0xf9 { delay = number(at + 4) }
            if bytes[at + 1] == 0xff, bytes[(at + 3)...].starts(with: "NETSCAPE2.0".utf8) { loop = number(at + 16) }
            at = end(ofBlocks: at + 2)
        }
    }
}
