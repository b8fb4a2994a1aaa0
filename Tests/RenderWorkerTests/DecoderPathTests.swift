import CVips
import Testing
import WorkerProtocol

/// The fast ways to read a JPEG, with libvips' plain way as oracle.
struct DecoderPathTests {
    @Test(
        "The grey way is near the plain one",
        arguments: ["scale=0.5", "scale=0.25", "width=300", "width=160 height=90 fit=cover", "scale=0.37"])
    func greyIsNear(size: String) throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(1201, 803).file(.jpeg)
        let fast = "resize \(size) | noir | save format=png",
            plain = "resize \(size) kernel=lanczos3 | noir | save format=png"
        let header = try worker.open(source, fast, plain)
        #expect(header.decoderPaths[0].hasPrefix("grey at 1/") && header.decoderPaths[1] == "whole")
        let (fastResult, plainResult) = (try TemporaryFile(), try TemporaryFile())
        _ = try worker.render(into: fastResult, plainResult)
        #expect(try Pixels(fastResult).likeness(Pixels(plainResult)) > 42)
    }

    @Test("Read at its full size, a JPEG's own luma is the plain way's to a step")
    func greyIsExact() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(640, 480).file(.jpeg)
        #expect(try worker.open(source, "noir contrast=0").decoderPaths == ["grey at 1/1"])
        let fast = try worker.render(source, "noir contrast=0 | save format=png")
        let plain = try worker.render(source, "resize scale=1 kernel=nearest | noir contrast=0 | save format=png")
        #expect(try Pixels(fast).likeness(Pixels(plain)) > 48)
    }

    @Test(
        "The decoder shrinks as far as the target allows, and no farther",
        arguments: [
            ("scale=0.5", 2), ("scale=0.51", 1), ("scale=0.25", 4), ("scale=0.26", 2), ("scale=0.1", 8), ("scale=2", 1),
            ("width=400", 2), ("width=100 height=300 fit=exact", 2),
        ])
    func shrink(size: String, by shrink: Int) throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(1000, 600).file(.jpeg)
        let colour = shrink == 1 ? "whole" : "shrunk 1/\(shrink)"
        let paths = try worker.open(source, "resize \(size) | noir", "resize \(size)").decoderPaths
        #expect(paths == ["grey at 1/\(shrink)", colour])
    }

    @Test("A shrunken WebP is near the plain one")
    func webp() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(1001, 601).file(.webp)
        #expect(try worker.open(source, "resize scale=0.25").decoderPaths == ["shrunk 1/4"])
        let fast = try worker.render(source, "resize scale=0.25 | save format=png")
        let plain = try worker.render(source, "resize scale=0.25 kernel=lanczos3 | save format=png")
        #expect(try Pixels(fast).likeness(Pixels(plain)) > 38)
    }

    @Test("Other kinds, CMYK and wide gamuts are read whole, for every pixel counts")
    func plainWays() throws {
        let worker = try WorkerProcess()
        let pixels = Pixels.colourful(400, 300)
        let wide = try pixels.file(.jpeg) { try $0.then { cvips_icc_transform($0, $1, "p3", "srgb", 8) } }
        let cmyk = try pixels.file(.jpeg) { try $0.then { cvips_icc_transform($0, $1, "cmyk", "srgb", 8) } }
        #expect(try worker.open(pixels.file(.png), "resize scale=0.5 | noir").decoderPaths == ["whole"])
        #expect(try worker.open(wide, "resize scale=0.5 | noir").decoderPaths == ["shrunk 1/2"])
        #expect(try worker.open(cmyk, "resize scale=0.5 | noir").decoderPaths == ["shrunk 1/2"])
    }

    @Test("A profile that is sRGB anyway does not keep a JPEG from the grey way")
    func sRGBProfile() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(400, 300).file(.jpeg) {
            try $0.then { cvips_icc_transform($0, $1, "srgb", "srgb", 8) }
        }
        let header = try worker.open(source, "resize scale=0.5 | noir")
        #expect(header.decoderPaths == ["grey at 1/2"])
        #expect(header.profile?.contains("sRGB") == true)
    }
}
