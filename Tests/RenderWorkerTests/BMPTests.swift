import CVips
import PipelineModel
import Testing
import WorkerProtocol

/// Tests BMP, which the worker decodes itself.
struct BMPTests {
    /// The width is odd, so that rows need padding.
    private static let pixels = Pixels.colourful(37, 23)
    private static let colours: [[UInt8]] = (0..<256).map { [UInt8($0), UInt8(255 - $0), UInt8($0 / 2)] }
    private static let greys: [[UInt8]] = (0..<256).map { [UInt8($0), UInt8($0), UInt8($0)] }

    private func rows(_ paint: (_ pixel: [Int]) -> [UInt8]) -> [[UInt8]] {
        (0..<Self.pixels.height).map { y in (0..<Self.pixels.width).flatMap { paint(Self.pixels[$0, y]) } }
    }

    private func read(_ bitmap: Bitmap) throws -> Pixels {
        try Pixels(WorkerProcess().render(bitmap.file, "save format=png"))
    }

    private func bitmap(_ bits: Int, _ rows: [[UInt8]]) -> Bitmap {
        Bitmap(width: Self.pixels.width, height: Self.pixels.height, bits: bits, rows: rows)
    }

    @Test(
        "24-bit files are read bottom-up and top-down, with old and new headers",
        arguments: [12, 40, 52, 56, 64, 108, 124])
    func plain(header: Int) throws {
        var bitmap = bitmap(24, rows { $0.reversed().map { UInt8($0) } })
        bitmap.headerLength = header
        #expect(try read(bitmap) == Self.pixels)
        guard header != 12 else { return }
        bitmap.isTopDown = true
        #expect(try read(bitmap) == Self.pixels)
    }

    @Test("32-bit files have alpha if their masks say so, and otherwise an unused byte")
    func masks() throws {
        let rows = rows { [UInt8($0[2]), UInt8($0[1]), UInt8($0[0]), 77] }
        #expect(try read(bitmap(32, rows)) == Self.pixels)
        var masked = bitmap(32, rows)
        masked.compression = 3
        masked.masks = [0xff0000, 0xff00, 0xff]
        #expect(try read(masked) == Self.pixels)
        (masked.headerLength, masked.masks) = (108, [0xff0000, 0xff00, 0xff, 0xff00_0000])
        let withAlpha = try read(masked)
        #expect(withAlpha == Self.pixels.map { $0 + [77] })
        // A file with ten bits per colour.
        var wide = bitmap(
            32,
            self.rows { Bitmap.number(($0[0] * 1023 / 255) << 20 | ($0[1] * 1023 / 255) << 10 | $0[2] * 1023 / 255) })
        (wide.compression, wide.masks) = (3, [0x3ff0_0000, 0xffc00, 0x3ff])
        #expect(try read(wide).likeness(Self.pixels) > 50)
    }

    @Test("16-bit files have five bits per colour, or as many as their masks say")
    func short() throws {
        let five = rows { Bitmap.number(($0[0] >> 3) << 10 | ($0[1] >> 3) << 5 | $0[2] >> 3, 2) }
        let wanted = Self.pixels.map { $0.map { (($0 >> 3) * 255 + 15) / 31 } }
        #expect(try read(bitmap(16, five)) == wanted)
        var masked = bitmap(16, rows { Bitmap.number(($0[0] >> 3) << 11 | ($0[1] >> 2) << 5 | $0[2] >> 3, 2) })
        (masked.compression, masked.masks) = (3, [0xf800, 0x7e0, 0x1f])
        #expect(
            try read(masked)
                == Self.pixels.map {
                    [(($0[0] >> 3) * 255 + 15) / 31, (($0[1] >> 2) * 255 + 31) / 63, (($0[2] >> 3) * 255 + 15) / 31]
                })
    }

    @Test("Palettes of 256, 16 and 2 colours are read; a grey palette gives one band", arguments: [8, 4, 1])
    func palette(bits: Int) throws {
        let most = 1 << bits
        func packed(_ row: [UInt8]) -> [UInt8] {
            stride(from: 0, to: row.count, by: 8 / bits).map { start in
                row[start...].prefix(8 / bits).enumerated().reduce(UInt8(0)) {
                    $0 | $1.element << UInt8(8 - bits - $1.offset * bits)
                }
            }
        }
        let indices = rows { [UInt8($0[0] * most / 256)] }
        var bitmap = bitmap(bits, indices.map(packed))
        bitmap.palette = Array(Self.colours.prefix(most))
        #expect(try read(bitmap) == Self.pixels.map { Self.colours[$0[0] * most / 256].map { Int($0) } })
        bitmap.palette = Array(Self.greys.prefix(most))
        #expect(try read(bitmap) == Self.pixels.map { [$0[0] * most / 256] })
        // Indices beyond the palette are decoded as black.
        bitmap.palette = [Self.colours[0]]
        #expect(try read(bitmap) == Self.pixels.map { $0[0] * most / 256 == 0 ? [0, 255, 0] : [0, 0, 0] })
    }

    @Test("Runs of 8 and 4 bits are read, and runs that leave the picture are dropped")
    func runs() throws {
        // The lower row is a run of three, four literal pixels and an end of row. The upper row starts at its third
        // pixel.
        var bitmap = Bitmap(width: 7, height: 2, bits: 8, rows: [], compression: 1, palette: Self.greys)
        bitmap.runs = [3, 9, 0, 4, 1, 2, 3, 4, 0, 0, 0, 2, 2, 0, 5, 7, 0, 1]
        let wanted = Pixels(7, 2) { x, y in [[[0, 0, 7, 7, 7, 7, 7], [9, 9, 9, 1, 2, 3, 4]][y][x]] }
        #expect(try read(bitmap) == wanted)
        bitmap.runs = [255, 9, 255, 8, 0, 2, 255, 0, 255, 7, 0, 2, 0, 255]
        #expect(try read(bitmap) == Pixels(7, 2) { _, y in [y == 1 ? 9 : 0] })
        bitmap = Bitmap(width: 5, height: 1, bits: 4, rows: [], compression: 2, palette: Array(Self.greys.prefix(16)))
        bitmap.runs = [3, 0x12, 0, 3, 0x34, 0x50, 0, 1]
        #expect(try read(bitmap) == Pixels(5, 1) { x, _ in [[1, 2, 1, 3, 4][x]] })
    }

    @Test("A profile of a version 5 header is used, and the resolution is kept")
    func profile() throws {
        var bitmap = bitmap(24, rows { $0.reversed().map { UInt8($0) } })
        bitmap.headerLength = 124
        bitmap.profile = try #require(
            VipsPicture(Pixels.colourful(4, 4), is16Bit: false).transformed(from: "srgb", to: "p3").blob(
                "icc-profile-data"))
        let worker = try WorkerProcess()
        #expect(try worker.open(bitmap.file, "save").profile != nil)
        let kept = try VipsPicture(worker.render(bitmap.file, "save format=png profile=keep"))
        #expect(kept.blob("icc-profile-data") == bitmap.profile)
        #expect(abs(kept.image.pointee.Xres - 2.835) < 0.01)
    }

    @Test("A BMP goes through any chain, and its header describes it")
    func chain() throws {
        let worker = try WorkerProcess()
        let bitmap = try bitmap(24, rows { $0.reversed().map { UInt8($0) } }).file
        let header = try worker.open(bitmap, "resize width=10 | noir")
        #expect(header.format == "bmp" && header.decoderPaths == ["bmp, whole, then luma (noir needs luma only)"])
        #expect(try Pixels(worker.render(bitmap, "resize width=10 | noir")).bands == 1)
    }

    @Test("A truncated file is reported as such", arguments: [20, 53, 54, 60, 1000])
    func cut(length: Int) throws {
        let whole = bitmap(24, rows { $0.reversed().map { UInt8($0) } }).bytes
        let failure = try WorkerProcess().failure(TemporaryFile(Array(whole.prefix(length))), "noir")
        #expect(failure.message.contains("its end is missing"), "\(failure)")
        var runs = bitmap(8, [])
        (runs.compression, runs.palette, runs.runs) = (1, Self.greys, [3, 9])
        #expect(try WorkerProcess().failure(runs.file, "noir").message.contains("its end is missing"))
    }

    @Test("Headers with impossible values are refused with a message, and cost no memory")
    func odd() throws {
        let worker = try WorkerProcess()
        let plain = bitmap(24, rows { $0.reversed().map { UInt8($0) } })
        func failure(_ change: (inout Bitmap) -> Void) throws -> String {
            var changed = plain
            change(&changed)
            let message = try worker.failure(changed.file, "noir").message
            #expect(!message.contains("its end is missing"), "\(message)")
            return message
        }
        #expect(try failure { $0.width = -3 }.contains("it has no pixels"))
        #expect(try failure { $0.height = 0 }.contains("it has no pixels"))
        #expect(try failure { $0.bits = 23 }.contains("pixels of 23 bits"))
        #expect(try failure { $0.compression = 4 }.contains("compressed in a way"))
        #expect(
            try failure { ($0.bits, $0.compression, $0.masks) = (32, 3, [0x0f0f, 0xff00, 0]) }.contains("masks are odd")
        )
        #expect(try failure { ($0.bits, $0.palette) = (8, []) }.contains("no colours"))
        #expect(try failure { ($0.width, $0.height) = (60000, 60000) }.contains("more than MaxPixels="))
        var bytes = plain.bytes
        bytes[10] = 20
        #expect(try worker.failure(TemporaryFile(bytes), "noir").message.contains("begin in its header"))
        _ = try worker.render(plain.file, "noir")
    }
}
