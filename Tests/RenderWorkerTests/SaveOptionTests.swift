import CVips
import PipelineModel
import Testing
import WorkerProtocol

@Suite("Options of save")
struct SaveOptionTests {
    /// Returns a JPEG, which stays in planes, and a PNG, which does not.
    private static func sources(_ pixels: Pixels = .colourful(320, 240)) throws -> [TemporaryFile] {
        [try pixels.file(.jpeg), try pixels.file(.png)]
    }

    /// Returns the frame marker, and the number of luma samples per chroma sample, horizontally and vertically.
    private static func frame(_ jpeg: TemporaryFile) throws -> (marker: UInt8, across: UInt8, down: UInt8) {
        let bytes = try jpeg.bytes
        var at = 2
        while at + 12 < bytes.count {
            if [0xc0, 0xc1, 0xc2].contains(bytes[at + 1]) {
                return (bytes[at + 1], bytes[at + 11] >> 4, bytes[at + 11] & 15)
            }
            at += 2 + Int(bytes[at + 2]) << 8 + Int(bytes[at + 3])
        }
        throw Unexpected("the JPEG has no frame")
    }

    @Test("progressive: a JPEG has several scans and a PNG is interlaced, but only on request")
    func progressive() throws {
        let worker = try WorkerProcess()
        for source in try Self.sources() {
            for (option, marker, method) in [("", 0xc0, 0), ("progressive=no", 0xc0, 0), ("progressive=yes", 0xc2, 1)] {
                let jpeg = try worker.render(source, "resize scale=0.5 | save \(option)")
                #expect(try Self.frame(jpeg).marker == UInt8(marker), "\(option)")
                let png = try worker.render(source, "resize scale=0.5 | save format=png \(option)")
                #expect(try png.bytes[28] == UInt8(method), "\(option)")
            }
        }
    }

    @Test("chroma: the subsampling is as requested, at any quality")
    func chroma() throws {
        let worker = try WorkerProcess()
        for source in try Self.sources() {
            for (options, shared) in [
                ("quality=80", 2), ("quality=95", 1), ("quality=95 chroma=420", 2), ("quality=50 chroma=444", 1),
                ("quality=80 chroma=auto", 2), ("quality=95 chroma=auto", 1), ("max-bytes=200K", 2),
                ("max-bytes=200K chroma=444", 1),
            ] {
                let frame = try Self.frame(worker.render(source, "resize scale=0.5 | save \(options)"))
                #expect(frame.across == UInt8(shared) && frame.down == UInt8(shared), "\(options)")
            }
        }
    }

    @Test("chroma of an AVIF is in its header", arguments: [("420", 3), ("444", 0)])
    func chromaOfAVIF(chroma: String, shared: Int) throws {
        let file = try WorkerProcess().render(
            Pixels.colourful(64, 48).file(.png), "save format=avif chroma=\(chroma)")
        let bytes = try file.bytes
        let name = Array("av1C".utf8)
        let box = try #require(bytes.indices.first { bytes[$0...].starts(with: name) })
        #expect(Int(bytes[box + 6]) >> 2 & 3 == shared)
    }

    @Test("lossless: a WebP preserves each pixel, even without metadata")
    func lossless() throws {
        let worker = try WorkerProcess()
        let pixels = Pixels.noise(65, 43)
        for options in ["", "metadata=strip", "effort=0", "effort=6"] {
            let result = try worker.render(pixels.file(.png), "save format=webp lossless=yes \(options)")
            #expect(try Pixels(result) == pixels, "\(options)")
        }
        let lossy = try worker.render(pixels.file(.png), "save format=webp lossless=no")
        #expect(try Pixels(lossy) != pixels)
    }

    @Test("effort: more effort changes the file, and makes PNG and WebP smaller", arguments: ["png", "webp", "avif"])
    func effort(format: String) throws {
        let worker = try WorkerProcess()
        for source in try Self.sources() {
            let most = format == "webp" ? 6 : 9
            let files = try [0, most].map { try worker.render(source, "save format=\(format) effort=\($0)").bytes }
            #expect(files[0] != files[1])
            if format != "avif" { #expect(files[1].count < files[0].count) }
        }
    }

    @Test(
        "max-bytes: the file fits and comes close, in every format and way", arguments: ["jpeg", "webp", "avif", "jxl"])
    func maxBytes(format: String) throws {
        let worker = try WorkerProcess("--jxl")
        for source in try Self.sources(.mixed(320, 240)) {
            for limit in [3000, 6000, 12000] {
                let file = try worker.render(source, "save format=\(format) max-bytes=\(limit)")
                let length = try file.bytes.count
                // At low qualities, a step of quality changes the size of an AVIF by a lot.
                let least = limit * (format == "avif" ? 5 : 7) / 10
                #expect(length <= limit && length > least, "\(length) of \(limit)")
                #expect(try Pixels(file).width == 320)
            }
            let kept = try worker.render(source, "save format=\(format) quality=30 max-bytes=1G")
            let plain = try worker.render(
                source, "save format=\(format) quality=30 \(["webp", "jxl"].contains(format) ? "" : "chroma=420")")
            #expect(try kept.bytes.count == plain.bytes.count)
        }
    }

    @Test(
        "max-bytes: if a large part of a file has a fixed size, the best quality that fits is found",
        arguments: ["jpeg", "webp"])
    func hardlyShorter(format: String) throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(320, 240).file(.png)
        func length(_ options: String) throws -> Int {
            try worker.render(source, "save format=\(format) \(options)").bytes.count
        }
        let chroma = format == "jpeg" ? " chroma=420" : ""
        for quality in [30, 50, 60, 70] {
            let limit = try length("quality=\(quality)\(chroma)")
            let found = try length("max-bytes=\(limit)")
            #expect(try (length("quality=\(quality - 15)\(chroma)")...limit).contains(found), "\(quality): \(limit)")
        }
    }

    @Test(
        "max-bytes: a picture that can't fit fails with its size and the remedy",
        arguments: ["jpeg", "webp", "jxl"])
    func tooMuch(format: String) throws {
        for source in try Self.sources(.noise(320, 240)) {
            let failure = try WorkerProcess("--jxl").failure(source, "save format=\(format) max-bytes=1K")
            #expect(failure.class == .input)
            #expect(failure.message.hasSuffix("bytes, more than max-bytes= allows (1024)"), "\(failure)")
            #expect(failure.advice == "put a smaller resize before save, or allow more; then pipectl retry")
        }
    }

    @Test("format=gif: a picture keeps its size and transparency, and looks the same")
    func gif() throws {
        let worker = try WorkerProcess()
        let source = Pixels(120, 80) { x, y in [x * 2, y * 3, 90, x < 40 ? 0 : 255] }
        let result = try Pixels(worker.render(source.file(.png), "save format=gif effort=9"))
        #expect(result.bands == 4 && result.width == 120 && result.height == 80)
        #expect(result[20, 40][3] == 0 && result[80, 40][3] == 255)
        let opaque = Pixels.colourful(120, 80)
        #expect(try Pixels(worker.render(opaque.file(.png), "save format=gif")).likeness(opaque) > 28)
        let grey = try Pixels(worker.render(opaque.file(.png), "noir | save format=gif"))
        #expect(grey.bands < 3 || grey[60, 40][0] == grey[60, 40][1])
    }

    @Test(
        "format=same: the result has the original's format, and a HEIC becomes a JPEG",
        arguments: [
            (Pixels.Format.jpeg, "jpeg"), (.png, "png"), (.webp, "webp"), (.tiff, "tiff"), (.avif, "avif"),
            (.heic, "jpeg"),
        ])
    func sameFormat(original: Pixels.Format, format: String) throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(64, 48).file(original)
        let results = try [
            "resize scale=0.5 | save format=same", "noir | save format=same effort=2 quality=60 chroma=420",
            "resize width=20 | barrier | save format=same",
        ].map { chain in
            try chain.contains("barrier") ? HandOverTests().cut(source, chain) : worker.render(source, chain)
        }
        for result in results {
            let header = try worker.open(result, "save")
            #expect(header.format == format, "\(header)")
        }
    }

    @Test("A GIF holds no metadata, and its report says so, unless none was requested")
    func metadataOfGIF() throws {
        let worker = try WorkerProcess()
        for (policy, lost) in [("keep", ["EXIF", "XMP", "IPTC"]), ("copyright", ["EXIF"]), ("strip", nil)] {
            _ = try worker.open(MetadataTests.photograph(), "resize width=40 | save format=gif metadata=\(policy)")
            #expect(try worker.render(into: TemporaryFile()).first?.lost == lost, "\(policy)")
        }
    }

    @Test("format=same makes a GIF from a GIF, without the profile that profile=keep asks for")
    func sameGIF() throws {
        let worker = try WorkerProcess()
        let gif = try VipsTool.run("gifsave", Pixels.colourful(64, 48).file(.png))
        let result = try worker.render(gif, "resize scale=0.5 | save format=same profile=keep quality=50")
        let header = try worker.open(result, "save")
        #expect(header.format == "gif" && header.width == 32)
    }

    @Test(
        "profile=keep: Display P3 keeps its values, with its profile and its author",
        arguments: ["png", "tiff"])
    func keepsProfile(format: String) throws {
        let worker = try WorkerProcess()
        let wide = try Pixels.colourful(160, 120).file(.png) {
            try $0.then { cvips_icc_transform($0, $1, "p3", "srgb", VIPS_INTENT_RELATIVE, 8) }
        }
        let kept = try worker.render(wide, "save format=\(format) profile=keep")
        #expect(try Pixels(kept) == Pixels(wide))
        #expect(try VipsPicture(kept).has("icc-profile-data"))
        let small = try worker.render(
            wide, "resize scale=0.5 | sepia | save format=jpeg profile=keep metadata=copyright")
        #expect(try VipsPicture(small).has("icc-profile-data"))
        // A grey picture has no use for a colour profile.
        let grey = try worker.render(wide, "noir | save format=png profile=keep")
        #expect(try Pixels(grey) == Pixels(worker.render(wide, "noir | save format=png")))
        let usual = try worker.render(wide, "save format=\(format) profile=srgb")
        #expect(try Pixels(usual) == Pixels(worker.render(wide, "save format=\(format)")))
    }

    @Test("profile=keep: CMYK becomes sRGB all the same")
    func keepsNoPaint() throws {
        let source = try Pixels(40, 30) { x, y in [90 + x, 80 + y, 120] }.file(.tiff) {
            try $0.then { cvips_icc_transform($0, $1, "cmyk", "srgb", VIPS_INTENT_RELATIVE, 8) }
        }
        let worker = try WorkerProcess()
        let kept = try Pixels(worker.render(source, "save format=png profile=keep"))
        #expect(try kept == Pixels(worker.render(source, "save format=png")))
    }
}
