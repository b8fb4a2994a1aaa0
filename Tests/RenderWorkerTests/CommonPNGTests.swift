import CPNGRows
import CVips
import TestTools
import Testing
import WorkerProtocol

/// Compares the worker's own PNG decoder with libvips.
struct CommonPNGTests {
    private static let kinds: [(kind: UInt8, bands: Int)] = [(0, 1), (4, 2), (2, 3), (6, 4)]

    /// Returns pixels with this number of bands: soft colours in the upper half, and noise in the lower half.
    private static func pixels(_ width: Int, _ height: Int, bands: Int) -> Pixels {
        let (soft, noise) = (Pixels.colourful(width, height, alpha: true), Pixels.noise(width, height))
        return Pixels(width, height) { x, y in
            Array((y < height / 2 ? soft[x, y] : noise[x, y] + [noise[x, y][0] ^ 85]).prefix(bands))
        }
    }

    /// Returns a PNG of the pixels. All rows use `filter`. If `filter` is nil, the rows use all filters in turn.
    private static func file(
        _ pixels: Pixels, filter: UInt8? = nil, level: Int32 = 6, part: Int = 8192
    ) throws -> PNGFile {
        let rows = (0..<pixels.height).map { y in
            (0..<pixels.width).flatMap { pixels[$0, y].map { UInt8($0) } }
        }
        let filtered = PNGFile.filtered(rows, bytesPerPixel: pixels.bands) { filter ?? UInt8(($0 + $0 / 5) % 5) }
        let kind = try #require(kinds.first { $0.bands == pixels.bands }).kind
        var file = PNGFile(
            width: pixels.width, height: pixels.height, kind: kind, packed: try packed(filtered, level: level))
        file.part = part
        return file
    }

    /// Returns the bytes, packed by zlib at this level.
    private static func packed(_ bytes: [UInt8], level: Int32) throws -> [UInt8] {
        let packer = try #require(g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_ZLIB, level))
        defer { g_object_unref(UnsafeMutableRawPointer(packer)) }
        var (result, left) = ([UInt8](), bytes[...])
        var status = G_CONVERTER_CONVERTED
        while status == G_CONVERTER_CONVERTED {
            var (buffer, taken, made) = ([UInt8](repeating: 0, count: 1 << 16), gsize(0), gsize(0))
            status = left.withUnsafeBytes { from in
                buffer.withUnsafeMutableBytes { to in
                    g_converter_convert(
                        packer, from.baseAddress, gsize(from.count), to.baseAddress, gsize(to.count),
                        G_CONVERTER_INPUT_AT_END, &taken, &made, nil)
                }
            }
            left = left.dropFirst(Int(taken))
            result += buffer.prefix(Int(made))
        }
        try #require(status == G_CONVERTER_FINISHED)
        return result
    }

    private final class Memory {
        let bytes: [UInt8]
        init(_ bytes: [UInt8]) { self.bytes = bytes }
    }

    /// Returns the rows that the decoder can read: all rows, or the rows before the place at which the decoder refuses
    /// the file.
    private static func rows(_ bytes: [UInt8]) -> [[UInt8]] {
        let memory = Memory(bytes)
        var size = png_rows_size()
        let access = png_rows_file(
            read: { memory, buffer, count, offset in
                guard let memory, let buffer else { return -1 }
                let bytes = Unmanaged<Memory>.fromOpaque(memory).takeUnretainedValue().bytes
                let part = bytes.dropFirst(offset).prefix(count)
                UnsafeMutableRawBufferPointer(start: buffer, count: count).copyBytes(from: part)
                return part.count
            }, context: Unmanaged.passUnretained(memory).toOpaque())
        return withExtendedLifetime(memory) {
            guard let reader = png_rows_open(access, &size) else { return [] }
            defer { png_rows_close(reader) }
            var rows: [[UInt8]] = []
            while let row = png_rows_next(reader) {
                rows.append(Array(UnsafeBufferPointer(start: row, count: Int(size.width * size.bands))))
            }
            return rows
        }
    }

    private static func samples(_ rows: [[UInt8]]) -> [UInt16] { rows.joined().map { UInt16($0) } }

    @Test("Every row equals libvips', whatever the filters, the packing and the chunks", arguments: kinds.map(\.bands))
    func rows(bands: Int) throws {
        for (width, height) in [(1, 1), (2, 3), (5, 8), (31, 1), (1, 40), (64, 64), (241, 163)] {
            let pixels = Self.pixels(width, height, bands: bands)
            for filter in [nil, 0, 1, 2, 3, 4] as [UInt8?] {
                for (level, part) in [(0, 300), (1, 65536), (6, 8192), (9, 1)] as [(Int32, Int)] {
                    // Chunks of one byte are slow, so test them only with small pictures.
                    if part == 1, width > 64 { continue }
                    let file = try Self.file(pixels, filter: filter, level: level, part: part)
                    let words: Comment = "\(width) × \(height), filter \(filter ?? 9), level \(level)"
                    #expect(Self.samples(Self.rows(file.bytes)) == pixels.samples, words)
                    #expect(try Pixels(TemporaryFile(file.bytes)).samples == pixels.samples, words)
                }
            }
        }
    }

    @Test("A picture with more rows than memory for unpacked bytes, and one with long rows, are complete")
    func large() throws {
        for (width, height, bands) in [(700, 900, 3), (60_000, 3, 4), (9, 20_000, 1)] {
            let pixels = Self.pixels(width, height, bands: bands)
            #expect(Self.samples(Self.rows(try Self.file(pixels).bytes)) == pixels.samples)
        }
    }

    @Test("Luma is rounded as libvips rounds it, including the last pixels")
    func luma() {
        for width in [1, 2, 3, 4, 5, 6, 7, 15, 16, 17, 1000] {
            let noise = Pixels.noise(width, 1)
            let rgb = noise.samples.map { UInt8($0) }
            var luma = [UInt8](repeating: 0, count: width)
            png_rows_luma(rgb, &luma, width)
            #expect(
                luma.map { Int($0) }
                    == (0..<width).map { x in
                        let pixel = noise[x, 0]
                        return (19595 * pixel[0] + 38470 * pixel[1] + 7471 * pixel[2] + 32768) >> 16
                    })
        }
    }

    @Test("Interlaced pictures, palettes, 16 bits, transparent colours, animations and unknown parts are refused")
    func refusals() throws {
        let usual = try Self.file(Self.pixels(40, 30, bands: 3))
        #expect(Self.rows(usual.bytes).count == 30)
        func isRefused(_ change: (inout PNGFile) -> Void) -> Bool {
            var file = usual
            change(&file)
            return Self.rows(file.bytes).isEmpty
        }
        #expect(isRefused { $0.isInterlaced = true })
        #expect(isRefused { ($0.kind, $0.before) = (3, [("PLTE", Array(repeating: 7, count: 768))]) })
        #expect(isRefused { $0.bits = 16 })
        #expect(isRefused { $0.before = [("tRNS", [0, 1, 0, 2, 0, 3])] })
        #expect(isRefused { $0.before = [("acTL", [0, 0, 0, 1, 0, 0, 0, 0])] })
        #expect(isRefused { $0.before = [("CgBI", [0, 0, 0, 0])] })
        #expect(!isRefused { $0.before = [("PLTE", [1, 2, 3]), ("tEXt", Array("a\0b".utf8))] })
    }

    @Test("The last row is returned only after the checksums and the end of the file are checked")
    func ends() throws {
        let usual = try Self.file(Self.pixels(40, 30, bands: 3))
        func rows(_ change: (inout PNGFile) -> Void) -> Int {
            var file = usual
            change(&file)
            return Self.rows(file.bytes).count
        }
        #expect(rows { $0.packed[$0.packed.count - 1] ^= 1 } == 29, "zlib's checksum")
        #expect(rows { $0.packed += [0] } == 29, "bytes behind the stream")
        #expect(rows { $0.packed.removeLast() } < 30, "no whole checksum")
        #expect(rows { $0.height = 29 } == 28, "more pixels than the header says")
        #expect(rows { $0.height = 31 } == 30, "fewer pixels than the header says")
        #expect(rows { $0.behind = [("XXXX", [])] } == 29, "an unknown critical chunk")
        #expect(rows { $0.behind = [("tEXt", Array("a\0b".utf8))] } == 30, "a text")
        #expect(Self.rows(usual.bytes.dropLast(1)).count == 29, "no whole end")
    }

    @Test("The rows of a damaged file are returned up to the damage, and they are right")
    func damage() throws {
        let pixels = Self.pixels(90, 60, bands: 3)
        let file = try Self.file(pixels, part: 512)
        let expected = Self.rows(file.bytes)
        for length in stride(from: 0, to: file.bytes.count, by: 211) {
            let rows = Self.rows(Array(file.bytes.prefix(length)))
            #expect(rows.count < 60 && rows.elementsEqual(expected.prefix(rows.count)))
        }
        // A changed byte contradicts its chunk's checksum. Without checksums, the wrong pixels could be valid.
        for place in stride(from: 40, to: file.bytes.count, by: 13) {
            var damaged = file.bytes
            damaged[place] ^= 0x24
            let rows = Self.rows(damaged)
            #expect(rows.count < 60 && rows.elementsEqual(expected.prefix(rows.count)), "byte \(place)")
        }
    }

    @Test("A worker's results are the same with libvips alone, and the path names the decoder", arguments: kinds)
    func worker(kind: UInt8, bands: Int) throws {
        let (own, libvips) = (try WorkerProcess(), try WorkerProcess("--libvips-png"))
        var file = try Self.file(Self.pixels(401, 303, bands: bands))
        file.before = [("tEXt", Array("Comment\0by Ada".utf8)), ("pHYs", [0, 0, 11, 18, 0, 0, 11, 18, 1])]
        let source = try TemporaryFile(file.bytes)
        for chain in ["resize width=120", "blur", "rotate angle=90", "save", "save format=png"] {
            #expect(try own.open(source, chain).decoderPaths[0].contains(", own decoder"), "\(chain)")
            #expect(try !libvips.open(source, chain).decoderPaths[0].contains("decoder"), "\(chain)")
            let results = try [own, libvips].map { try $0.render(source, chain) }
            if bands == 1, chain != "save format=png" {
                // The worker's own decoder keeps a grey picture as a plane. A library other than libvips resizes and
                // encodes the plane.
                #expect(try Pixels(results[0]).likeness(Pixels(results[1])) > 35, "\(chain)")
            } else {
                #expect(try results[0].bytes == results[1].bytes, "\(chain)")
            }
        }
    }

    @Test("Damage fails with the same message as with libvips, even when it is found in the middle of a render")
    func words() throws {
        let (own, libvips) = (try WorkerProcess(), try WorkerProcess("--libvips-png"))
        let file = try Self.file(Self.pixels(401, 303, bands: 3), part: 4096)
        for chain in ["resize width=120", "save format=png", "resize width=120 | noir"] {
            for place in [0.3, 0.6, 0.95] {
                var damaged = file.bytes
                damaged[Int(Double(damaged.count) * place)] ^= 1
                let source = try TemporaryFile(damaged)
                #expect(try own.failure(source, chain) == libvips.failure(source, chain), "\(chain), \(place)")
            }
        }
        // Some versions of libvips accept a wrong checksum after the last pixel, others refuse it.
        var odd = file
        odd.packed[odd.packed.count - 1] ^= 1
        let source = try TemporaryFile(odd.bytes)
        let outcomes = try [own, libvips].map { worker in
            do { return "\(try worker.render(source, "save format=png").bytes)" } catch let failure as WorkerFailure {
                return "\(failure)"
            }
        }
        #expect(outcomes[0] == outcomes[1])
    }
}
