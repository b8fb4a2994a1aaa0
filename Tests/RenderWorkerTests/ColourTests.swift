import CVips
import PipelineModel
import Testing
import WorkerProtocol

struct ColourTests {
    private static let pixels = Pixels.colourful(160, 120)

    @Test("Display P3 becomes sRGB, with sRGB's profile")
    func wideGamut() throws {
        let worker = try WorkerProcess()
        let wide = try Self.pixels.file(.png) {
            try $0.then { cvips_icc_transform($0, $1, "p3", "srgb", VIPS_INTENT_RELATIVE, 8) }
        }
        #expect(try Pixels(wide).likeness(Self.pixels) < 40)
        let result = try worker.render(wide, "save format=png")
        #expect(try Pixels(result).likeness(Self.pixels) > 42)
        #expect(try VipsPicture(result).has("icc-profile-data"))
    }

    @Test("CMYK becomes sRGB, with its own profile or without one", arguments: [true, false])
    func cmyk(hasProfile: Bool) throws {
        let worker = try WorkerProcess()
        let muted = Pixels(160, 120) { x, y in [90 + x / 2, 80 + y / 2, 120] }
        let source = try muted.file(.tiff) {
            let cmyk = try $0.then { cvips_icc_transform($0, $1, "cmyk", "srgb", VIPS_INTENT_RELATIVE, 8) }
            if !hasProfile { vips_image_remove(cmyk.image, "icc-profile-data") }
            return cmyk
        }
        #expect(try worker.open(source, "save").bands == 4)
        let result = try Pixels(worker.render(source, "save format=png"))
        #expect(result.bands == 3 && result.likeness(muted) > 30)
        #expect(try Pixels(worker.render(source, "noir")).bands == 1)
    }

    @Test(
        "16 bits stay 16 bits in PNG, TIFF and JPEG XL, and become 8 elsewhere",
        arguments: ["png", "tiff", "jxl", "jpeg", "webp", "avif"])
    func depth(format: String) throws {
        let worker = try WorkerProcess("--jxl")
        let wide = Pixels(64, 64) { x, y in [x * 1000, y * 1000, 20000] }
        _ = try worker.open(wide.file(.png, is16Bit: true), "save format=\(format)")
        let file = try TemporaryFile()
        let told = try worker.render(into: file)
        // AVIF could store more than 8 bits, so the loss is reported.
        #expect(told.map(\.lost) == [format == "avif" ? ["16 bits a sample"] : nil])
        let result = try VipsPicture(file)
        #expect(result.is16Bit == ["png", "tiff", "jxl"].contains(format))
        let most = format == "jxl" ? 2000 : result.is16Bit ? 0 : 9
        let expected = result.is16Bit ? wide[40, 20] : wide[40, 20].map { $0 >> 8 }
        #expect(zip(try result.pixels()[40, 20], expected).allSatisfy { abs($0 - $1) <= most })
    }

    @Test("Alpha is flattened for JPEG only, onto the requested background")
    func alpha() throws {
        let worker = try WorkerProcess("--jxl")
        let clear = try Pixels(32, 32) { x, _ in [0, 0, 255, x < 16 ? 0 : 255] }.file(.png)
        let white = try Pixels(worker.render(clear, "save format=jpeg quality=95"))
        let orange = try Pixels(worker.render(clear, "save format=jpeg quality=95 background=#ff8000"))
        #expect(white.bands == 3 && zip(white[4, 16], [255, 255, 255]).allSatisfy { abs($0 - $1) < 8 })
        #expect(zip(orange[4, 16], [255, 128, 0]).allSatisfy { abs($0 - $1) < 8 })
        #expect(zip(orange[27, 16], [0, 0, 255]).allSatisfy { abs($0 - $1) < 8 })
        for format in ["png", "webp", "avif", "tiff", "jxl"] {
            let result = try Pixels(worker.render(clear, "save format=\(format)"))
            #expect(result.bands == 4 && result[4, 16][3] < 8 && result[27, 16][3] > 247, "\(format)")
        }
        let grey = try Pixels(worker.render(clear, "noir contrast=0 | save format=jpeg background=#000000"))
        #expect(grey.bands == 1 && grey[4, 16][0] < 8)
    }

    @Test("32-bit linear light becomes sRGB", arguments: [1, 3])
    func float(bands: Int) throws {
        let worker = try WorkerProcess()
        let grey = Pixels(64, 16) { x, _ in Array(repeating: x * 4, count: bands) }
        let source = try grey.file(.tiff) { picture in
            let linear = try picture.then { cvips_colourspace($0, $1, VIPS_INTERPRETATION_scRGB) }
            return try bands == 1 ? linear.then { cvips_extract_bands($0, $1, 0, 1) } : linear
        }
        #expect(try worker.open(source, "save").bitsPerSample == 32)
        let result = try Pixels(worker.render(source, "save format=png"))
        #expect(result.bands == bands && result.likeness(grey) > 45)
    }

    @Test("32-bit integers are scaled to 16 bits, even bright ones")
    func wideIntegers() throws {
        let worker = try WorkerProcess()
        let source = try Self.pixels.file(.tiff) { try $0.then { cvips_cast($0, $1, VIPS_FORMAT_UINT, 1) } }
        let wide = try Pixels(worker.render(source, "resize scale=0.5 | save format=png"))
        let plain = try Pixels(worker.render(Self.pixels.file(.png), "resize scale=0.5 | save format=png"))
        var narrow = wide
        narrow.samples = wide.samples.map { $0 >> 8 }
        #expect(narrow.likeness(plain) > 45)
    }

    @Test("Grey, and grey with alpha, stay as they are")
    func grey() throws {
        let worker = try WorkerProcess()
        let grey = Pixels(64, 16) { x, _ in [x * 4] }
        let transparent = Pixels(64, 16) { x, y in [x * 4, y * 16] }
        #expect(try Pixels(worker.render(grey.file(.png), "save format=png")) == grey)
        #expect(try Pixels(worker.render(transparent.file(.png), "save format=png")) == transparent)
        #expect(try Pixels(worker.render(grey.file(.jpeg), "resize scale=0.5 | save")).bands == 1)
    }

    @Test("An invalid profile is ignored")
    func brokenProfile() throws {
        let worker = try WorkerProcess()
        let source = try Self.pixels.file(.png) {
            $0.set("icc-profile-data", Array(repeating: 7, count: 400))
            return $0
        }
        #expect(try Pixels(worker.render(source, "save format=png")) == Self.pixels)
    }
}
