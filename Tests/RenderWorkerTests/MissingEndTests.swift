import PipelineModel
import Testing
import WorkerProtocol

/// Tests that a file without its end gives no result by any decoder path, even if the result would not show the missing
/// part.
struct MissingEndTests {
    enum Kind: String, CaseIterable {
        case jpeg, progressiveJPEG, png, interlacedPNG, tiff, compressedTIFF, webp, losslessWebP, avif, heic, gif, bmp

        /// Returns the bytes of a file of this kind. The picture is taller than wide, so that `fit=cover` crops its
        /// lower half.
        func bytes(of pixels: Pixels = MissingEndTests.pixels) throws -> [UInt8] {
            func made(_ command: String, _ options: String..., suffix: String = "") throws -> [UInt8] {
                try VipsTool.run(command, pixels.file(.png), options, suffix: suffix).bytes
            }
            return switch self {
            case .jpeg: try made("jpegsave")
            case .progressiveJPEG: try made("jpegsave", "--interlace")
            case .png: try made("pngsave")
            case .interlacedPNG: try made("pngsave", "--interlace")
            case .tiff: PlainTIFF(pixels).bytes
            case .compressedTIFF: try made("tiffsave", "--compression=deflate", suffix: ".tif")
            case .webp: try made("webpsave")
            case .losslessWebP: try made("webpsave", "--lossless")
            case .avif: try made("heifsave", "--compression=av1", "--effort=0")
            case .heic: try made("heifsave", "--compression=hevc", "--effort=0")
            case .gif: try made("gifsave")
            case .bmp:
                Bitmap(
                    width: pixels.width, height: pixels.height, bits: 24,
                    rows: (0..<pixels.height).map { y in
                        (0..<pixels.width).flatMap { x in pixels[x, y].reversed().map { UInt8($0) } }
                    }, isTopDown: true
                ).bytes
            }
        }
    }

    private static let pixels = Pixels.colourful(240, 600)

    /// Chains that use planes, luma alone, or rows from libvips, with and without shrinking in the decoder. Some chains
    /// then crop the picture.
    private static let chains = [
        "resize width=80 height=40 fit=cover", "resize width=80 height=40 fit=cover | noir",
        "resize width=80 height=40 fit=cover | save format=png",
        "resize width=200 height=40 fit=cover | save format=png",
        "resize width=80 height=40 fit=cover kernel=nearest | save format=png",
        "resize width=480 height=40 fit=cover | save format=png",
        "blur | resize width=80 height=40 fit=cover | save format=png",
        "resize width=110 | save format=png", "resize width=70 kernel=nearest | save format=png", "save format=png",
        "crop width=90 height=90 position=top | save format=png", "save", "noir",
    ]

    @Test(
        "A file without its end fails, by every decoder path and with any crop of the result", arguments: Kind.allCases)
    func missing(kind: Kind) throws {
        let worker = try WorkerProcess()
        let whole = try kind.bytes()
        for chain in Self.chains { #expect(try Pixels(worker.render(TemporaryFile(whole), chain)).width > 0) }
        let lengths = [0.35, 0.9, 0.999].map { Int(Double(whole.count) * $0) } + [whole.count - 1]
        for length in lengths {
            let cut = try TemporaryFile(Array(whole.prefix(length)))
            for chain in Self.chains {
                let told = Comment(rawValue: "\(length) of \(whole.count) bytes, \(chain)")
                #expect(throws: WorkerFailure.self, told) { try worker.render(cut, chain) }
            }
            for pair in [Array(Self.chains.prefix(2)), Array(Self.chains.prefix(4))] {
                let told = Comment(rawValue: "\(length) of \(whole.count) bytes, \(pair)")
                #expect(throws: WorkerFailure.self, told) { try worker.render(cut, pair) }
            }
        }
    }

    @Test(
        "The message says that the end is missing", arguments: [Kind.jpeg, .progressiveJPEG, .png, .tiff, .gif, .bmp])
    func message(kind: Kind) throws {
        let worker = try WorkerProcess()
        let whole = try kind.bytes()
        let cut = try TemporaryFile(Array(whole.prefix(whole.count * 9 / 10)))
        for chain in Self.chains {
            let failure = try worker.failure(cut, chain)
            #expect(failure.stage == "open" && failure.class == .input, "\(failure)")
            #expect(failure.message.hasPrefix("the picture is incomplete: its end is missing"), "\(chain): \(failure)")
        }
    }

    @Test("Bytes after the end do no harm", arguments: [Kind.jpeg, .progressiveJPEG, .png, .gif, .tiff, .webp, .bmp])
    func trailing(kind: Kind) throws {
        let worker = try WorkerProcess()
        let whole = try kind.bytes()
        for end in [[0], Array("a film, perhaps".utf8), [0xff], [0xff, 0xda], Array(repeating: 0, count: 5000)] {
            let longer = try TemporaryFile(whole + end)
            for chain in Self.chains { #expect(try Pixels(worker.render(longer, chain)).width > 0) }
        }
    }

    @Test(
        "If a missing end is accepted, a crop of the rest is rendered",
        arguments: [Kind.jpeg, .progressiveJPEG, .png])
    func accepted(kind: Kind) throws {
        let worker = try WorkerProcess()
        let whole = try kind.bytes()
        let cut = try TemporaryFile(Array(whole.prefix(whole.count * 9 / 10)))
        for chain in Self.chains where chain.contains("fit=cover") {
            let sound = try Pixels(worker.render(TemporaryFile(whole), chain))
            let accepted = try Pixels(worker.render(cut, chain, onTruncated: .accept))
            #expect(accepted.likeness(sound) > 28, "\(chain)")
        }
    }

    @Test(
        "Missing rows show nothing of earlier pictures", arguments: [Kind.jpeg, .png, .gif],
        ["save format=png", "noir contrast=0 | save format=png", "resize width=120 | save format=png"])
    func nothingOfOthers(kind: Kind, chain: String) throws {
        let whole = try kind.bytes()
        let cut = try TemporaryFile(Array(whole.prefix(whole.count / 5)))
        let before = try [0, 90, 255].map { value in
            try TemporaryFile(kind.bytes(of: Pixels(240, 600) { x, y in [value, x & 255, (x ^ y) & value] }))
        }
        let first = try Pixels(WorkerProcess().render(cut, chain, onTruncated: .accept))
        for picture in before {
            let worker = try WorkerProcess()
            for _ in 0..<4 {
                _ = try worker.render(picture, chain)
                #expect(try Pixels(worker.render(cut, chain, onTruncated: .accept)) == first)
            }
        }
    }

    @Test(
        "Damaged or omitted rows of a PNG that has its end show nothing of earlier pictures",
        arguments: [false, true],
        ["save format=png", "noir contrast=0 | save format=png", "resize width=120 | save format=png"])
    func nothingOfOthersBeforeTheEnd(isDamaged: Bool, chain: String) throws {
        var bytes = try Kind.png.bytes()
        let place = bytes.count / 5
        if isDamaged {
            // Neither the rows at this place nor the rows after them can be decompressed.
            for index in place..<place + 64 { bytes[index] = 0xff }
        } else {
            bytes = Array(bytes.prefix(place))
            // The last chunk of pixels now ends at `place`.
            let last = try #require(PNGChunk.starts(in: bytes).last)
            bytes.replaceSubrange(last..<last + 4, with: Bitmap.number(place - last - 8).reversed())
            bytes += [0, 0, 0, 0] + PNGChunk.bytes("IEND", [])
        }
        let source = try TemporaryFile(bytes)
        let before = try TemporaryFile(Kind.png.bytes(of: Pixels(240, 600) { x, y in [255, x & 255, (x ^ y) & 255] }))
        let first = try Pixels(WorkerProcess().render(source, chain, onTruncated: .accept))
        if chain == "save format=png" {
            // The upper part exists, and the lower part is black.
            #expect(first[10, 10] == Self.pixels[10, 10])
            #expect((0..<first.width).allSatisfy { x in first[x, first.height - 1].allSatisfy { $0 == 0 } })
        }
        let worker = try WorkerProcess()
        for _ in 0..<4 {
            _ = try worker.render(before, chain)
            #expect(try Pixels(worker.render(source, chain, onTruncated: .accept)) == first)
        }
    }

    @Test("Damage in rows that a crop discards fails like damage in any other row", arguments: [Kind.jpeg, .png])
    func damaged(kind: Kind) throws {
        let worker = try WorkerProcess()
        var bytes = try kind.bytes()
        let place = bytes.count * 9 / 10
        for index in stride(from: place, to: place + 32, by: 2) { (bytes[index], bytes[index + 1]) = (0xff, 0xd3) }
        let source = try TemporaryFile(bytes)
        for chain in Self.chains where chain.contains("fit=cover") {
            #expect(try worker.failure(source, chain).message.contains("damaged"), "\(chain)")
        }
    }
}

/// An uncompressed TIFF in strips. Its directory precedes the pixels, so only pixels can be missing.
private struct PlainTIFF {
    let bytes: [UInt8]

    init(_ pixels: Pixels) {
        let rowsPerStrip = 16
        let count = (pixels.height + rowsPerStrip - 1) / rowsPerStrip
        let tags = 10
        let lists = 8 + 2 + tags * 12 + 4 + 6
        let start = lists + 8 * count
        let bytesPerRow = pixels.width * 3
        let offsets = (0..<count).map { start + $0 * rowsPerStrip * bytesPerRow }
        let lengths = (0..<count).map { min(rowsPerStrip, pixels.height - $0 * rowsPerStrip) * bytesPerRow }
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
            Bitmap.number(tag, 2) + Bitmap.number(type, 2) + Bitmap.number(count) + Bitmap.number(value)
        }
        let (short, long) = (3, 4)
        var file = Array("II".utf8) + [42, 0, 8, 0, 0, 0] + Bitmap.number(tags, 2)
        file += entry(256, long, 1, pixels.width) + entry(257, long, 1, pixels.height)
        file += entry(258, short, 3, lists - 6) + entry(259, short, 1, 1) + entry(262, short, 1, 2)
        file += entry(273, long, count, lists) + entry(277, short, 1, 3) + entry(278, long, 1, rowsPerStrip)
        file += entry(279, long, count, lists + 4 * count) + entry(284, short, 1, 1)
        file += [0, 0, 0, 0] + [8, 0, 8, 0, 8, 0]
        file += offsets.flatMap { Bitmap.number($0) } + lengths.flatMap { Bitmap.number($0) }
        bytes = file + pixels.samples.map { UInt8($0) }
    }
}
