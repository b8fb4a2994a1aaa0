import CVips
import Testing
import WorkerProtocol

/// Compares the fast decoder paths with libvips' plain path. A chain that names a resize kernel always takes the plain
/// path.
struct DecoderPathTests {
    /// Returns the similarity, in dB, of the result at this size to the plain path's result.
    private func likeness(
        _ worker: WorkerProcess, _ source: TemporaryFile, _ size: String, then filter: String
    ) throws -> Double {
        let kernel = size == "scale=1" ? "nearest" : "lanczos3"
        let (fast, plain) = ("resize \(size) | \(filter)", "resize \(size) kernel=\(kernel) | \(filter)")
        let paths = try [fast, plain].map { try worker.open(source, $0).decoderPaths[0] }
        #expect(
            paths[0].contains("greyscale") && paths[1].contains("whole (kernel=\(kernel) must process every pixel)"))
        let results = try [fast, plain].map { try Pixels(worker.render(source, "\($0) | save format=png")) }
        return results[0].likeness(results[1])
    }

    @Test(
        "The luma path of a JPEG is close to the plain path",
        arguments: ["scale=0.5", "scale=0.25", "width=300", "width=160 height=90 fit=cover", "scale=0.37"])
    func greyIsNear(size: String) throws {
        let source = try Pixels.colourful(1201, 803).file(.jpeg)
        #expect(try likeness(WorkerProcess(), source, size, then: "noir") > 42)
    }

    @Test(
        "The luma path of a WebP is close to the plain path",
        arguments: ["scale=0.5", "scale=0.25", "width=100", "scale=0.37"])
    func greyWebPIsNear(size: String) throws {
        let source = try Pixels.colourful(1201, 803).file(.webp)
        #expect(try likeness(WorkerProcess(), source, size, then: "noir") > 42)
    }

    @Test(
        "For the project's pictures the luma path reaches 40 dB of the plain path at half size, and 50 dB at full size",
        arguments: ["morning-hills.jpg", "triangles.jpg", "raindrops.webp"])
    func samples(sample: String) throws {
        let worker = try WorkerProcess()
        let source = try Samples.file(sample)
        #expect(try likeness(worker, source, "scale=0.5", then: "noir contrast=0") >= 40)
        #expect(try likeness(worker, source, "scale=1", then: "noir contrast=0") >= 50)
    }

    @Test(
        "The decoder shrinks as far as the target allows, and no further",
        arguments: [
            ("scale=0.5", 2, true), ("scale=0.51", 1, false), ("scale=0.25", 4, true), ("scale=0.26", 2, false),
            ("scale=0.1", 8, false), ("scale=2", 1, false), ("width=400", 2, false),
            ("width=100 height=300 fit=exact", 2, false),
        ])
    func shrink(size: String, by shrink: Int, isAll: Bool) throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(1000, 600).file(.jpeg)
        let scale = shrink == 1 ? "whole" : "1/\(shrink)"
        let part = scale + ", own decoder" + (isAll ? "" : ", lanczos3 by zimg")
        let grey = try worker.open(source, "resize \(size) | noir").decoderPaths[0]
        let colour = try worker.open(source, "resize \(size)").decoderPaths[0]
        #expect(grey == "jpeg, greyscale, \(part) (noir needs luma only)")
        #expect(colour.hasPrefix("jpeg, planes, \(part) (resize makes "))
    }

    @Test("A small result looks as lanczos3 would make it", arguments: [Pixels.Format.jpeg, .webp])
    func small(format: Pixels.Format) throws {
        let worker = try WorkerProcess()
        for width in [15, 31, 50, 64, 100, 127, 129, 175, 200, 255, 300, 500] {
            let source = try Pixels.colourful(width, width * 3 / 4).file(format)
            for scale in [0.5, 0.4, 0.25, 0.125, 0.1] {
                func render(_ kernel: String) throws -> Pixels {
                    try Pixels(worker.render(source, "resize scale=\(scale)\(kernel) | save format=png"))
                }
                let likeness = try render("").likeness(render(" kernel=lanczos3"))
                #expect(likeness > 38, "\(width) pixels by \(scale): \(likeness) dB")
            }
        }
    }

    @Test("No column of resized planes stands out", arguments: [(47, 18), (50, 20), (60, 24), (127, 63)])
    func columns(width: Int, wanted: Int) throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(width, width * 3 / 4).file(.jpeg)
        let chains = ["", " kernel=lanczos3"].map {
            "resize width=\(wanted) height=\(wanted * 3 / 4) fit=exact\($0) | noir contrast=0 | save format=png"
        }
        #expect(try worker.open(source, chains[0]).decoderPaths[0].contains("by zimg"))
        let results = try chains.map { try Pixels(worker.render(source, $0)) }
        let worst = zip(results[0].samples, results[1].samples).map { abs(Int($0) - Int($1)) }.max()
        #expect(try #require(worst) <= 8)
    }

    @Test("Half of a picture with odd sides equals the decoder's own half")
    func oddSides() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(1001, 667).file(.jpeg)
        #expect(
            try worker.open(source, "resize scale=0.5").decoderPaths == [
                "jpeg, planes, 1/2, own decoder (resize makes 500 × 333)"
            ])
        for chain in ["resize scale=0.5", "resize scale=0.5 | noir", "resize scale=0.5 kernel=lanczos3"] {
            let result = try Pixels(worker.render(source, chain + " | save format=png"))
            #expect((result.width, result.height) == (500, 333))
        }
    }

    @Test("A shrunk WebP is close to the plain path")
    func webp() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(1001, 601).file(.webp)
        let chain = "resize scale=0.25 | save format=png"
        #expect(try worker.open(source, chain).decoderPaths == ["webp, planes, 1/4 (resize makes 250 × 150)"])
        let fast = try worker.render(source, chain)
        let plain = try worker.render(source, "resize scale=0.25 kernel=lanczos3 | save format=png")
        #expect(try Pixels(fast).likeness(Pixels(plain)) > 38)
    }

    @Test("A file that stores no luma is read whole, and converted to luma before it is resized")
    func lumaFirst() throws {
        let worker = try WorkerProcess()
        for (alpha, is16Bit) in [(false, false), (true, false), (false, true), (true, true)] {
            let source = try Pixels.colourful(400, 300, alpha: alpha).file(.png, is16Bit: is16Bit)
            let chain = "resize scale=0.5 | noir"
            let path =
                switch (alpha, is16Bit) {
                case (false, false): "png, greyscale, whole, own decoder, lanczos3 by zimg"
                case (true, false): "png, whole, then luma, own decoder"
                default: "png, whole, then luma"
                }
            #expect(try worker.open(source, chain).decoderPaths == [path + " (noir needs luma only)"])
            let fast = try Pixels(worker.render(source, chain + " | save format=png"))
            let plain = try Pixels(worker.render(source, "resize scale=0.5 kernel=lanczos3 | noir | save format=png"))
            #expect(fast.bands == (alpha ? 2 : 1))
            #expect(fast.likeness(plain, most: is16Bit ? 65535 : 255) > 48)
        }
    }

    @Test("A device-link profile is dropped, and does not prevent the luma path")
    func deviceLink() throws {
        let worker = try WorkerProcess()
        let source = try TableProfile.linkedPicture()
        #expect(try VipsPicture(source).has("icc-profile-data"))
        let path = try worker.open(source, "resize scale=0.5 | noir").decoderPaths[0]
        #expect(path == "jpeg, greyscale, 1/2, own decoder (noir needs luma only)")
        #expect(try likeness(worker, source, "scale=0.5", then: "noir") > 42)
    }

    @Test("A profile or CMYK prevents the luma path, and is given as the reason")
    func plainWays() throws {
        let worker = try WorkerProcess()
        let pixels = Pixels.colourful(400, 300)
        let wide = try pixels.file(.jpeg) {
            try $0.then { cvips_icc_transform($0, $1, "p3", "srgb", VIPS_INTENT_RELATIVE, 8) }
        }
        let cmyk = try pixels.file(.jpeg) {
            try $0.then { cvips_icc_transform($0, $1, "cmyk", "srgb", VIPS_INTENT_RELATIVE, 8) }
        }
        for source in [wide, cmyk] {
            let path = try worker.open(source, "resize scale=0.5 | noir").decoderPaths[0]
            #expect(
                path.hasPrefix("jpeg, 1/2 (noir needs luma only, but its profile, ") && path.hasSuffix(" comes first)"))
        }
        let animated = try VipsTool.run("webpsave", pixels.file(.png), ["--page-height", "100"])
        #expect(try worker.open(animated, "noir").decoderPaths == ["webp, whole, then luma (noir needs luma only)"])
    }

    @Test("A grey JPEG is read as grey, whatever its filters need")
    func greyFile() throws {
        let worker = try WorkerProcess()
        let source = try Pixels(400, 300) { x, y in [(x + y) % 256] }.file(.jpeg)
        let path = try worker.open(source, "resize scale=0.5 | blur").decoderPaths
        #expect(path == ["jpeg, greyscale, 1/2, own decoder (it has no colours)"])
    }

    @Test("A profile equal to sRGB does not prevent the luma path")
    func sRGBProfile() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(400, 300).file(.jpeg) {
            try $0.then { cvips_icc_transform($0, $1, "srgb", "srgb", VIPS_INTENT_RELATIVE, 8) }
        }
        let header = try worker.open(source, "resize scale=0.5 | noir")
        #expect(header.decoderPaths == ["jpeg, greyscale, 1/2, own decoder (noir needs luma only)"])
        #expect(header.profile?.contains("sRGB") == true)
    }

    @Test(
        "Pointwise filters move after a shrinking resize; other filters and enlarging resizes keep their places"
    )
    func resizeFirst() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(800, 600).file(.jpeg)
        func path(_ chain: String) throws -> String { try worker.open(source, chain).decoderPaths[0] }
        #expect(try path("mono contrast=1 | resize width=200").hasSuffix("(mono needs luma only)"))
        #expect(try path("mono red=1 | resize width=200") == "jpeg, planes, 1/4, own decoder (resize makes 200 × 150)")
        #expect(try path("noir | resize width=200") == "jpeg, greyscale, 1/4, own decoder (noir needs luma only)")
        #expect(
            try path("chrome | fade | resize width=200") == "jpeg, planes, 1/4, own decoder (resize makes 200 × 150)")
        for chain in [
            "blur | resize width=200", "noir | blur | resize width=200", "chrome | resize width=200 kernel=lanczos3",
        ] {
            #expect(try path(chain).contains(", whole"), "\(chain)")
        }
        #expect(try path("chrome | resize width=1600 height=1200 fit=exact").contains("whole"))
        let moved = try Pixels(worker.render(source, "noir | resize width=200 | save format=png"))
        let kept = try Pixels(worker.render(source, "noir | resize width=200 kernel=lanczos3 | save format=png"))
        #expect(moved.likeness(kept) > 40)
    }

    @Test("A TIFF's smaller copies are read instead of it, as pages or as subdirectories", arguments: [false, true])
    func pyramid(subdirectories: Bool) throws {
        let worker = try WorkerProcess()
        let pixels = Pixels.colourful(1000, 600)
        let options = ["--tile", "--pyramid", "--tile-width", "64", "--tile-height", "64"]
        let source = try VipsTool.run("tiffsave", pixels.file(.png), options + (subdirectories ? ["--subifd"] : []))
        let chain = "resize width=200 | sharpen"
        let header = try worker.open(source, chain)
        // Smaller copies are not counted as pages.
        #expect(header.decoderPaths == ["tiff, 1/4 (resize makes 200 × 120)"] && header.pages == 1)
        let small = try Pixels(worker.render(source, chain + " | save format=png"))
        let plain = try Pixels(worker.render(source, "resize width=200 kernel=lanczos3 | sharpen | save format=png"))
        #expect(small.likeness(plain) > 34)
        #expect(try worker.open(source, "sharpen").decoderPaths == ["tiff, whole (the chain begins at full size)"])
    }
}
