import CTurboJPEG
import CVips
import Testing
import WorkerProtocol

/// Renders JPEGs whose samples remain separate planes from the decoder to the encoder. Compares the results with those
/// of libvips' plain path. A chain that names a resize kernel always takes the plain path.
struct PlanesTests {
    /// Kinds of chroma subsampling, named as TurboJPEG's are.
    enum Sampling: CaseIterable {
        case all, halfAcross, quarter, halfDown, quarterAcross

        fileprivate var number: TJSAMP {
            switch self {
            case .all: TJSAMP_444
            case .halfAcross: TJSAMP_422
            case .quarter: TJSAMP_420
            case .halfDown: TJSAMP_440
            case .quarterAcross: TJSAMP_411
            }
        }
    }

    private func jpeg(_ pixels: Pixels, _ sampling: Sampling = .quarter) throws -> TemporaryFile {
        let encoder = try #require(tjInitCompress())
        defer { tjDestroy(encoder) }
        var (bytes, length) = (UnsafeMutablePointer<UInt8>?.none, UInt(0))
        defer { tjFree(bytes) }
        let status = tjCompress2(
            encoder, pixels.samples.map { UInt8($0) }, Int32(pixels.width), 0, Int32(pixels.height),
            Int32(TJPF_RGB.rawValue), &bytes, &length, Int32(sampling.number.rawValue), 98, TJFLAG_ACCURATEDCT)
        try #require(status == 0)
        return try TemporaryFile(Array(UnsafeBufferPointer(start: bytes, count: Int(length))))
    }

    /// Returns the results of both paths. The quality is 100, so that the encoder loses little.
    private func results(_ worker: WorkerProcess, _ source: TemporaryFile, _ size: String) throws -> (Pixels, Pixels) {
        let (planes, plain) = ("resize \(size) | save quality=100", "resize \(size) kernel=lanczos3 | save quality=100")
        #expect(try worker.open(source, planes).decoderPaths[0].hasPrefix("jpeg, planes, "), "\(size)")
        return try (Pixels(worker.render(source, planes)), Pixels(worker.render(source, plain)))
    }

    @Test(
        "Planes are as close to the picture as the plain path, with any chroma subsampling",
        arguments: Sampling.allCases)
    func likeness(sampling: Sampling) throws {
        let worker = try WorkerProcess()
        for (width, height) in [(1200, 800), (1201, 803)] {
            let source = try jpeg(.colourful(width, height), sampling)
            for size in [
                "scale=0.5", "scale=0.25", "width=300", "width=160 height=90 fit=cover", "scale=0.37", "scale=1.2",
            ] {
                let (planes, plain) = try results(worker, source, size)
                #expect(planes.likeness(plain) >= 38, "\(width) × \(height), \(size): \(planes.likeness(plain))")
                #expect(
                    planes.luma.likeness(plain.luma) >= 40,
                    "\(width) × \(height), \(size): \(planes.luma.likeness(plain.luma))")
            }
        }
    }

    @Test("Colours stay aligned with luma: an edge of colours stays in place", arguments: Sampling.allCases)
    func place(sampling: Sampling) throws {
        let worker = try WorkerProcess()
        // The picture has four areas in two alternating colours, whose edges lie at odd positions.
        let source = try jpeg(
            Pixels(1003, 701) { x, y in (x < 501) != (y < 351) ? [190, 60, 60] : [70, 200, 220] }, sampling)
        for size in ["scale=0.5", "scale=0.25", "width=333", "width=301 height=201 fit=cover"] {
            let (planes, plain) = try results(worker, source, size)
            let (width, height) = (plain.width, plain.height)
            let across = [planes, plain].map { $0.shift(inRow: height / 4) }
            let down = [planes.turned, plain.turned].map { $0.shift(inRow: width / 4) }
            #expect(abs(across[0] - across[1]) < 0.1, "\(size): \(across)")
            #expect(abs(down[0] - down[1]) < 0.1, "\(size): \(down)")
        }
    }

    @Test("Every orientation becomes upright, with its colours in place", arguments: 1...8)
    func upright(orientation: Int) throws {
        let worker = try WorkerProcess()
        for (width, height) in [(400, 240), (403, 241)] {
            let source = try Pixels.colourful(width, height).file(.jpeg) {
                $0.set("orientation", orientation)
                return $0
            }
            for size in ["scale=0.5", "width=111", "width=99 height=77 fit=cover"] {
                let (planes, plain) = try results(worker, source, size)
                #expect(planes.likeness(plain) >= 36, "\(width) × \(height), \(size): \(planes.likeness(plain))")
                let less = try Pixels(worker.render(source, "resize \(size)"))
                #expect(less.likeness(plain) >= 34, "\(width) × \(height), \(size): \(less.likeness(plain))")
            }
        }
    }

    @Test("Tiny pictures can be made, from and to one pixel")
    func tiny() throws {
        let worker = try WorkerProcess()
        for (width, height) in [(1, 1), (2, 1), (1, 3), (7, 5), (17, 1)] {
            for sampling in Sampling.allCases {
                let source = try jpeg(Pixels(width, height) { _, _ in [200, 100, 50] }, sampling)
                for size in ["scale=0.5", "scale=3", "width=5 height=7 fit=exact"] {
                    let (planes, plain) = try results(worker, source, size)
                    #expect(planes.likeness(plain) > 35, "\(width) × \(height), \(sampling), \(size)")
                }
            }
        }
    }

    @Test("Three results come from one decoding, and equal their separate renders")
    func several() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(1600, 1200).file(.jpeg)
        let chains = ["resize width=800", "resize width=400", "resize width=150"]
        let paths = try worker.open(source, chains[0], chains[1], chains[2]).decoderPaths
        #expect(
            paths == [
                "jpeg, planes, 1/2, once for 3 outputs, own decoder (resize makes 800 × 600)",
                "jpeg, planes, 1/2, once for 3 outputs, own decoder, lanczos3 by zimg (resize makes 400 × 300)",
                "jpeg, planes, 1/2, once for 3 outputs, own decoder, lanczos3 by zimg (resize makes 150 × 112)",
            ])
        for (chain, together) in zip(chains, try worker.render(source, chains)) {
            let alone = try Pixels(worker.render(source, chain))
            #expect(try Pixels(together).likeness(alone) > 36, "\(chain)")
        }
    }

    @Test("The result keeps sRGB's profile, but not a device-link profile")
    func profile() throws {
        let worker = try WorkerProcess()
        let linked = try TableProfile.linkedPicture()
        let plain = try Pixels.colourful(400, 300).file(.jpeg) {
            try $0.then { cvips_icc_transform($0, $1, "srgb", "srgb", VIPS_INTENT_RELATIVE, 8) }
        }
        for (source, isKept) in [(linked, false), (plain, true)] {
            #expect(try worker.open(source, "resize scale=0.5").decoderPaths[0].hasPrefix("jpeg, planes, "))
            let result = try VipsPicture(worker.render(source, "resize scale=0.5"))
            #expect(result.has("icc-profile-data") == isKept)
        }
    }

    @Test("A picture is decoded at once if it isn't made smaller, becomes tiny, or the chain names a kernel")
    func others() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(400, 300).file(.jpeg)
        for chain in [
            "save format=png", "chrome", "resize scale=1.2 | chrome", "resize width=40 | chrome",
            "resize scale=0.5 kernel=cubic",
        ] {
            #expect(try !worker.open(source, chain).decoderPaths[0].contains("planes"), "\(chain)")
        }
    }

    @Test(
        "For filters of colours and for other formats, planes become RGB after the resize, as the plain path makes it",
        arguments: Sampling.allCases, ["save format=png", "chrome | save format=png", "border | save quality=100"])
    func colourChains(sampling: Sampling, stages: String) throws {
        let worker = try WorkerProcess()
        for (width, height) in [(1200, 800), (1201, 803)] {
            let source = try jpeg(.colourful(width, height), sampling)
            for size in ["scale=0.5", "width=300", "width=160 height=90 fit=cover", "scale=0.37"] {
                let chains = ["", " kernel=lanczos3"].map { "resize \(size)\($0) | \(stages)" }
                #expect(try worker.open(source, chains[0]).decoderPaths[0].hasPrefix("jpeg, planes, "), "\(size)")
                let (planes, plain) = try (
                    Pixels(worker.render(source, chains[0])), Pixels(worker.render(source, chains[1]))
                )
                let likeness = planes.likeness(plain)
                #expect(likeness >= (stages.hasPrefix("chrome") ? 34 : 38), "\(width), \(size): \(likeness)")
                #expect(planes.luma.likeness(plain.luma) >= (stages.hasPrefix("chrome") ? 36 : 40), "\(width), \(size)")
            }
        }
    }

    @Test("Every orientation becomes upright before the filters, and keeps its profile", arguments: 1...8)
    func uprightChains(orientation: Int) throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(403, 241).file(.jpeg) {
            let picture = try $0.then { cvips_icc_transform($0, $1, "srgb", "srgb", VIPS_INTENT_RELATIVE, 8) }
            picture.set("orientation", orientation)
            return picture
        }
        let chains = ["", " kernel=lanczos3"].map { "resize width=99 height=77 fit=cover\($0) | save format=png" }
        let (planes, plain) = try (worker.render(source, chains[0]), worker.render(source, chains[1]))
        #expect(try Pixels(planes).likeness(Pixels(plain)) >= 36)
        #expect(try VipsPicture(planes).has("icc-profile-data"))
    }
}
