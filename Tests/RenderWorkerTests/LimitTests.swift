import CVips
import Foundation
import Glibc
import PipelineModel
import SystemCalls
import TestTools
import Testing
import WorkerProtocol

/// Tests dangerous pictures, and pictures that only look dangerous. The worker refuses a dangerous picture by its
/// header, before any pixel is decoded.
struct LimitTests {
    @Test(
        "A chain of as many stages as MaxStages can allow is rendered, and a longer one is refused before work",
        arguments: ["noir", "blur", "sharpen", "tilt-shift", "sepia", "vignette"])
    func stages(filter: String) throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(200, 300).file(.jpeg)
        func outputs(_ count: Int) throws -> [RenderOutput] {
            let text = Array(repeating: filter, count: count).joined(separator: " | ")
            let catalog = StageCatalog(filters: worker.hello.filters)
            return [
                RenderOutput(name: nil, stages: try Chain(parsing: text, catalog: catalog, mostStages: .max).stages)
            ]
        }
        _ = try worker.open([source], outputs(Settings.mostStages))
        #expect(try worker.render(into: TemporaryFile()).map(\.height) == [300])
        let failure = try #require(throws: WorkerFailure.self) {
            try worker.open([source], outputs(Settings.mostStages + 1))
        }
        #expect(failure.message == "the chain has 66 stages; a worker takes 64, and save")
    }

    /// Returns a PNG with `count` compressed texts, each of `letters` letters.
    private static func png(_ name: String, _ count: Int, letters: Int) throws -> TemporaryFile {
        let head: [UInt8] =
            switch name {
            case "iTXt": Array("Bomb\0\u{1}\0en\0\0".utf8)
            // An ICC profile is compressed in the same way as the texts.
            default: Array("Bomb\0\0".utf8)
            }
        let content = head + Self.packed(letters: letters)
        let plain = try Pixels.colourful(40, 30).file(.png).bytes
        // The chunks follow the signature and IHDR.
        let chunk = PNGChunk.bytes(name, content)
        let chunks = Array(Array(repeating: chunk, count: count).joined())
        return try TemporaryFile(plain.prefix(33) + chunks + plain.dropFirst(33))
    }

    /// Returns a text of `letters` equal letters, compressed by zlib.
    private static func packed(letters: Int) -> [UInt8] {
        guard let packer = g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_ZLIB, 9) else { return [] }
        defer { g_object_unref(UnsafeMutableRawPointer(packer)) }
        let text = [UInt8](repeating: UInt8(ascii: "a"), count: letters)
        var (packed, read, written) = ([UInt8](repeating: 0, count: 1 << 20), gsize(), gsize())
        g_converter_convert(
            packer, text, gsize(text.count), &packed, gsize(packed.count), G_CONVERTER_INPUT_AT_END, &read, &written,
            nil)
        return Array(packed.prefix(Int(written)))
    }

    @Test(
        "Texts and profiles of a PNG that unpack to more than MaxTexts= in total are refused, with little memory",
        arguments: ["zTXt", "iTXt", "iCCP"])
    func packedTexts(name: String) throws {
        let worker = try WorkerProcess()
        for (count, letters) in [(4, 4 << 20), (1, 16 << 20)] {
            // libpng drops texts of more than 8 MB, with a warning.
            _ = try worker.render(Self.png(name, count, letters: letters), "resize width=20")
        }
        let before = try worker.peak
        for (count, letters) in [(4, 4 << 20 + 1), (1, 16 << 20 + 1), (500, 7 << 20)] {
            let failure = try #require(throws: WorkerFailure.self) {
                try worker.open(Self.png(name, count, letters: letters), "resize width=20")
            }
            #expect(failure.stage == "open")
            let words = "the texts and the profile in the PNG unpack to more than MaxTexts=16777216 bytes"
            #expect(failure.message == words)
        }
        #expect(try worker.peak < before + 16 << 20)
        let small = try Self.png(name, 2, letters: 5000)
        #expect(try worker.open(small, "resize width=20", maxTexts: 10_000).width > 0)
        let failure = try #require(throws: WorkerFailure.self) {
            try worker.open(small, "resize width=20", maxTexts: 9999)
        }
        #expect(failure.message.hasSuffix("more than MaxTexts=9999 bytes"), "\(failure)")
        #expect(failure.advice?.contains("raise MaxTexts in [Daemon]") == true, "\(failure)")
    }

    @Test("Five kilobytes that claim to be 60000 × 60000 are refused by the header")
    func claimed() throws {
        let worker = try WorkerProcess()
        var bytes = try Pixels.colourful(40, 30).file(.png).bytes
        bytes.replaceSubrange(16..<24, with: [0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60])
        bytes.replaceSubrange(29..<33, with: PNGChunk.checksum(bytes[12..<29]))
        let failure = try worker.failure(TemporaryFile(bytes), "noir")
        #expect(failure.stage == "open" && failure.message.contains("60000 × 60000 are 3600000000 pixels"))
        #expect(try worker.peak < 100 << 20)
    }

    @Test(
        "A side that the format can't hold is refused before work, with the format's limit",
        arguments: [("jpeg", 65500), ("webp", 16383), ("avif", 16384), ("gif", 65535)])
    func sides(format: String, most: Int) throws {
        let worker = try WorkerProcess()
        let fits = try Pixels(1, 1) { _, _ in [90] }.file(.png) { picture in
            try picture.then { cvips_resize($0, $1, Double(most), 1, VIPS_KERNEL_NEAREST) }
        }
        let larger = try Pixels(1, 1) { _, _ in [90] }.file(.png) { picture in
            try picture.then { cvips_resize($0, $1, 1, Double(most + 1), VIPS_KERNEL_NEAREST) }
        }
        _ = try worker.open(fits, "save format=\(format)")
        let result = try worker.render(into: TemporaryFile())
        #expect(result.map(\.width) == [most])
        let failure = try #require(throws: WorkerFailure.self) { try worker.open(larger, "save format=\(format)") }
        #expect(failure.stage == "save" && failure.message.hasPrefix("\(format) holds at most \(most) pixels a side"))
        _ = try worker.render(larger, "save format=png")
        _ = try worker.render(larger, "resize scale=0.5 | save format=\(format)")
    }

    @Test(
        "More than MaxPixels are refused by the header or, after a filter that changes sizes, before the resize"
    )
    func tooManyPixels() throws {
        let folder = try TemporaryFolder()
        try Plugin(
            name: "narrow", body: "return vips_shrink(in, out, 10, 1, NULL);",
            changes: ".traits = PIPELINE_CHANGES_SIZE"
        ).compile(to: folder.path + "/narrow.so")
        let worker = try WorkerProcess(plugins: [folder.path, WorkerProcess.programs.path])
        let source = try Pixels.colourful(400, 300).file(.jpeg)
        for chain in [
            "resize width=65535 height=65535 fit=exact", "resize width=40000 height=40000 fit=cover",
            "resize width=65535 height=65535 fit=exact | resize width=20", "noir | resize scale=16 | resize scale=16",
        ] {
            let failure = try #require(throws: WorkerFailure.self) { try worker.open(source, "resize width=20", chain) }
            #expect(
                failure.stage == "resize" && failure.message.contains("more than MaxPixels=268000000"), "\(failure)")
        }
        #expect(try worker.open(source, "resize scale=16").width == 400)
        let often = Array(repeating: "resize scale=16", count: 30).joined(separator: " | ")
        #expect(throws: WorkerFailure.self) { try worker.open(source, "noir | " + often) }
        #expect(try worker.failure(source, "narrow | " + often).message.contains("more than MaxPixels"))
        let failure = try worker.failure(source, "narrow | resize width=65535 height=65535 fit=exact")
        #expect(failure.stage == "resize" && failure.message.contains("it would become 65535 × 65535"), "\(failure)")
    }

    @Test("The size after filters counts: a result too large is refused before the encoding, a smaller one is made")
    func tooLargeByFilter() throws {
        let folder = try TemporaryFolder()
        let body = "return vips_zoom(in, out, 100, 1, NULL);"
        try Plugin(name: "wide", body: body, changes: ".traits = PIPELINE_CHANGES_SIZE").compile(
            to: folder.path + "/wide.so")
        let half = "return vips_shrink(in, out, 10, 1, NULL);"
        try Plugin(name: "narrow", body: half, changes: ".traits = PIPELINE_CHANGES_SIZE").compile(
            to: folder.path + "/narrow.so")
        let worker = try WorkerProcess(plugins: [folder.path])
        let long = try Pixels.colourful(20_000, 2).file(.png)
        #expect(try Pixels(worker.render(long, "narrow | save format=webp")).width == 2000)
        let failure = try worker.failure(Pixels.colourful(200, 2).file(.png), "wide | save format=webp")
        #expect(failure.message.contains("16383 pixels a side, and the result would be 20000 × 2"))
    }

    @Test("An animation of ten thousand frames becomes its first frame")
    func frames() throws {
        let start = Array("GIF89a".utf8) + [64, 0, 64, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        let frame: [UInt8] = [0x21, 0xf9, 4, 0, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
        let frames = (0..<10_000).flatMap { _ in frame }
        let worker = try WorkerProcess()
        let source = try TemporaryFile(start + frames + [0x3b])
        // The limit counts only the first frame, because the others are not decoded.
        let header = try worker.open(source, "noir", maxPixels: 64 * 64)
        #expect(header.pages > 1000 && header.width == 64)
        #expect(try worker.render(into: TemporaryFile()).map(\.height) == [64])
        #expect(try worker.peak < 150 << 20)
    }

    @Test("TIFF directories in a loop, or by the thousand, come to an end", arguments: ["next", "below", "many"])
    func directories(kind: String) throws {
        let tags: [(Int, Int)] = [
            (256, 4), (257, 4), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, 4), (279, 16),
        ]
        func little(_ number: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(number >> (8 * $0) & 255) } }
        func directory(_ tags: [(Int, Int)], next: Int) -> [UInt8] {
            little(tags.count, 2) + tags.flatMap { little($0.0, 2) + little(4, 2) + little(1, 4) + little($0.1, 4) }
                + little(next, 4)
        }
        let first = 24
        let length = 2 + 12 * tags.count + 4
        let directories =
            switch kind {
            case "next": directory(tags, next: first)
            case "below": directory(tags + [(330, first)], next: 0)
            default: (1...5000).flatMap { directory(tags, next: $0 == 5000 ? 0 : first + $0 * length) }
            }
        let file = little(0x2a4949, 4) + little(first, 4) + Array(0..<16) + directories
        #expect(try Pixels(WorkerProcess().render(TemporaryFile(file), "save format=png")).width == 4)
    }

    @Test("A loader that libvips calls untrusted stays blocked, even for plugins")
    func untrusted() throws {
        let folder = try TemporaryFolder()
        let body = """
            const char *svg = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>";
            VipsImage *drawn = NULL;
            if (vips_svgload_buffer((void *)svg, strlen(svg), &drawn, NULL) == 0) host->fail(host, "it was drawn");
            else host->fail(host, vips_error_buffer());
            return -1;
            """
        try Plugin(name: "draws", body: body).compile(to: folder.path + "/draws.so")
        let failure = try WorkerProcess(plugins: [folder.path]).failure(
            Pixels.colourful(20, 20).file(.png), "draws")
        #expect(failure.message.contains("blocked"), "\(failure)")
    }

    @Test("Libraries that no picture may use are not loaded, and HEIF's are")
    func modules() throws {
        let worker = try WorkerProcess()
        // Read explicitly to EOF. A /proc file has no length, so it would seem to end after the first short read.
        let file = try #require(FileHandle(forReadingAtPath: "/proc/\(worker.process)/maps"))
        let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        for library in ["libMagick", "libpoppler", "libopenslide", "libjxl"] { #expect(!maps.contains(library)) }
        #expect(maps.contains("libheif"))
    }

    @Test("An unsupported file is described by its true type, whatever its name is")
    func others() throws {
        let worker = try WorkerProcess()
        let kinds: [(start: [UInt8], name: String)] = [
            ([0, 0, 0, 12, 0x6a, 0x50, 0x20, 0x20, 13, 10, 0x87, 10], "JPEG 2000"),
            ([0xff, 0x4f, 0xff, 0x51, 0, 47, 0, 0], "JPEG 2000"), (Array("<svg width='1'/>".utf8), "SVG"),
            (Array("%PDF-1.7\n".utf8), "PDF"), ([0xff, 0x0a, 0, 0], "JPEG XL"),
        ]
        for kind in kinds {
            let failure = try worker.failure(TemporaryFile(kind.start), name: "a.jpg", "noir")
            #expect(failure.stage == "open" && failure.message.contains(kind.name))
        }
    }
}

/// Builds and finds the chunks of PNGs.
enum PNGChunk {
    static func bytes(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let length = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: content.count >> $0) }
        let named = Array(name.utf8) + content
        return length + named + checksum(named)
    }

    /// Returns the offsets of all chunks in a file. The last chunk may be truncated.
    static func starts(in png: [UInt8]) -> [Int] {
        var (starts, at) = ([Int](), 8)
        while at + 8 <= png.count {
            starts.append(at)
            at += 12 + png[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        return starts
    }

    static func checksum(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var crc = ~UInt32(0)
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? 0xedb8_8320 ^ (crc >> 1) : crc >> 1 }
        }
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: ~crc >> $0) }
    }
}
