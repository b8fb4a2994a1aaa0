import CVips
import Testing
import WorkerProtocol

/// Tests Adobe RGB pictures of cameras. Only the EXIF of such a picture names its colour space.
struct EXIFColourTests {
    private static let stored = [200, 100, 50]
    /// The sRGB values of the colour that `stored` has in Adobe RGB.
    private static let shown = [227, 100, 42]

    /// Returns a picture of one colour. exiftool writes its EXIF tags.
    private static func picture(
        _ format: Pixels.Format, _ tags: [String], profile: String? = nil
    ) throws -> TemporaryFile {
        let file = try Pixels(64, 48) { _, _ in stored }.file(format) { picture in
            try profile.map { try picture.transformed(from: $0, to: $0) } ?? picture
        }
        try ExifTool.write(["-Make=Camera Works"] + tags, into: [file.path])
        return file
    }

    private static let adobeRGB = ["-InteropIndex=R03", "-ColorSpace#=65535"]

    private func isNear(_ file: TemporaryFile, _ colour: [Int], most: Int = 3) throws -> Bool {
        let pixels = try Pixels(file)
        return zip(pixels[pixels.width / 2, pixels.height / 2], colour).allSatisfy { abs($0 - $1) <= most }
    }

    @Test(
        "An Adobe RGB picture without a profile becomes sRGB, by every decoder path, and its EXIF says so",
        arguments: [Pixels.Format.jpeg, .png, .webp, .tiff, .heic, .avif])
    func converted(format: Pixels.Format) throws {
        let worker = try WorkerProcess("--jxl")
        let source = try Self.picture(format, Self.adobeRGB)
        #expect(try worker.open(source, "save").profile == "Compatible with Adobe RGB (1998)")
        let chains = [
            "save format=png", "resize scale=0.5 | save format=png", "save", "resize width=20 | save quality=100",
            "resize width=20 height=8 fit=cover | save format=webp quality=95", "save format=tiff", "save format=jxl",
            "save format=webp pages=all quality=95",
            "resize scale=0.5 kernel=lanczos3 | save format=png", "resize width=20 | save metadata=keep-without-place",
        ]
        let results = try chains.map { try worker.render(source, $0) } + worker.render(source, Array(chains.prefix(3)))
        for (result, chain) in zip(results, chains + chains.prefix(3)) {
            #expect(try isNear(result, Self.shown, most: 5), "\(chain)")
        }
        let luma = (Self.shown[0] * 299 + Self.shown[1] * 587 + Self.shown[2] * 114 + 500) / 1000
        let grey = try ["noir contrast=0", "resize scale=0.5 | noir contrast=0", "noir contrast=0 | save format=png"]
            .map {
                try worker.render(source, $0)
            }
        for result in grey { #expect(try isNear(result, [luma])) }
        let told = try withExtendedLifetime((results, grey)) { try ExifTool.read((results + grey).map(\.path)) }
        for (path, tags) in told {
            let kind = tags["File:FileType"] ?? ""
            #expect(tags["IFD0:Make"] == "Camera Works", "\(kind)")
            #expect(tags["ExifIFD:ColorSpace"] == "1", "\(kind) \(path): \(tags)")
            #expect(tags["InteropIFD:InteropIndex"] == "R98", "\(kind) \(path)")
        }
    }

    @Test("With profile=keep the pixels and their EXIF stay, with a matching profile")
    func kept() throws {
        let worker = try WorkerProcess()
        let source = try Self.picture(.jpeg, Self.adobeRGB)
        for format in ["jpeg", "png", "tiff", "webp"] {
            let result = try worker.render(source, "save format=\(format) profile=keep")
            #expect(try isNear(result, Self.stored, most: 5), "\(format)")
            // libvips computes the sRGB colours from the result's profile.
            let shown = try VipsPicture(result).transformed(from: "srgb", to: "srgb").pixels()
            #expect(zip(shown[8, 8], Self.shown).allSatisfy { abs($0 - $1) <= 5 }, "\(format): \(shown[8, 8])")
            let tags = try ExifTool.read([result.path])[result.path]
            #expect(tags?["InteropIFD:InteropIndex"] == "R03" && tags?["ExifIFD:ColorSpace"] == "65535", "\(format)")
        }
    }

    @Test("Behind a barrier the colours are converted once, and the EXIF describes the result")
    func handedOver() throws {
        let source = try Self.picture(.jpeg, Self.adobeRGB)
        let result = try HandOverTests().cut(source, "resize scale=0.5 | barrier | save format=png")
        #expect(try isNear(result, Self.shown))
        let tags = try ExifTool.read([result.path])[result.path]
        #expect(tags?["InteropIFD:InteropIndex"] == "R98" && tags?["ExifIFD:ColorSpace"] == "1", "\(tags ?? [:])")
    }

    @Test("A profile takes precedence over EXIF, and EXIF for sRGB changes nothing")
    func others() throws {
        let worker = try WorkerProcess()
        let withProfile = try Self.picture(.jpeg, Self.adobeRGB, profile: "srgb")
        let plain = try Self.picture(.jpeg, ["-InteropIndex=R98", "-ColorSpace#=1"])
        let uncalibrated = try Self.picture(.jpeg, ["-ColorSpace#=65535"])
        let contradictory = try Self.picture(.jpeg, ["-InteropIndex=R03", "-ColorSpace#=1"])
        for source in [withProfile, plain, uncalibrated, contradictory] {
            #expect(try worker.open(source, "save").decoderPaths[0].contains("planes"))
            #expect(try isNear(worker.render(source, "save format=png"), Self.stored, most: 4))
        }
        let wide = try Self.picture(.jpeg, ["-ColorSpace#=65535"], profile: "p3")
        let result = try worker.render(wide, "save")
        #expect(try ExifTool.read([result.path])[result.path]?["ExifIFD:ColorSpace"] == "1")
        let numbered = try Self.picture(.jpeg, ["-ColorSpace#=2"])
        #expect(try isNear(worker.render(numbered, "save format=png"), Self.shown, most: 4))
    }
}
