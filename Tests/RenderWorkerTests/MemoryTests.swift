import CVips
import Foundation
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

/// Compares a worker's real peak memory with the estimate by which the daemon decides whether to admit the picture.
struct MemoryTests {
    struct Case: CustomTestStringConvertible {
        var make: String
        var options: [String] = []
        var chain = "resize scale=0.5 | noir"
        var has16Bit = false
        var hasAlpha = false
        var isNoise = false

        var testDescription: String {
            ([make] + options + [chain] + (isNoise ? ["of noise"] : [])).joined(separator: " ")
        }
    }

    private static let cases = common + Sweep.of([], all: slow)

    private static let common = [
        Case(make: "jpegsave"),
        Case(make: "jpegsave", chain: "resize scale=0.5 kernel=lanczos3"),
        Case(make: "jpegsave", chain: "resize scale=0.5"),
        Case(make: "jpegsave", options: ["--subsample-mode", "off"], chain: "resize scale=0.9"),
        Case(make: "jpegsave", options: ["--interlace"], chain: "noir"),
        Case(make: "jpegsave", options: ["--interlace", "--Q", "95"]),
        Case(make: "pngsave", options: ["--compression", "1"]),
        Case(make: "pngsave", options: ["--compression", "1", "--interlace"]),
        Case(make: "pngsave", options: ["--compression", "1"], has16Bit: true),
        Case(make: "pngsave", options: ["--compression", "1"], hasAlpha: true),
        // If rows are cropped, the original or the scaled picture is held in memory, whichever is smaller.
        Case(
            make: "pngsave", options: ["--compression", "1"],
            chain: "resize width=3000 height=800 fit=cover | save format=png"),
        Case(make: "tiffsave", chain: "resize width=9000 height=800 fit=cover | save format=png"),
        Case(make: "jpegsave", chain: "resize width=1500 height=300 fit=cover | save format=png"),
        Case(make: "webpsave"),
        Case(make: "webpsave", chain: "noir"),
        Case(make: "webpsave", options: ["--lossless", "--reduction-effort", "0"]),
        Case(make: "webpsave", options: ["--page-height", "1200"], chain: "noir"),
        Case(make: "webpsave", options: ["--page-height", "600"], chain: "noir | save format=webp pages=all"),
        Case(make: "heifsave", options: ["--compression", "av1", "--effort", "0"]),
        Case(make: "tiffsave", options: ["--compression", "deflate"]),
        Case(make: "tiffsave", options: ["--tile"]),
        Case(make: "tiffsave", options: ["--tile", "--tile-width", "2048", "--tile-height", "2048"]),
        Case(make: "gifsave", options: ["--bitdepth", "3", "--effort", "1"]),
        Case(make: "gifsave", options: ["--bitdepth", "3", "--effort", "1", "--page-height", "1200"]),
        Case(make: "jpegsave", chain: "save format=webp"),
        Case(make: "jpegsave", chain: "resize scale=0.9 | save quality=100", isNoise: true),
        Case(make: "jpegsave", chain: "save format=webp quality=100", isNoise: true),
        Case(make: "jpegsave", chain: "resize width=2001 height=1501 fit=exact"),
        Case(make: "webpsave", chain: "save quality=100", isNoise: true),
        Case(make: "jpegsave", chain: "resize scale=0.5 | save format=avif"),
        // libaom needs as much memory for soft colours as for a drawing, even after a blur.
        Case(make: "jpegsave", chain: "resize scale=0.5 | blur | save format=avif"),
        Case(make: "jpegsave", chain: "resize scale=0.5 | tilt-shift | save format=avif"),
        Case(make: "jpegsave", chain: "resize scale=0.5 | save format=gif"),
        Case(make: "jpegsave", chain: "save format=jxl"),
        Case(make: "jpegsave", chain: "resize scale=0.5 | save format=jxl", isNoise: true),
        Case(make: "jpegsave", chain: "noir | save format=jxl effort=3"),
        Case(make: "jpegsave", chain: "resize scale=0.3 | save format=jxl lossless=yes"),
        Case(
            make: "pngsave", options: ["--compression", "1"], chain: "resize scale=0.5 | save format=jxl",
            hasAlpha: true),
        Case(
            make: "pngsave", options: ["--compression", "1"], chain: "resize scale=0.4 | save format=jxl lossless=yes",
            has16Bit: true),
        Case(make: "jpegsave", chain: "save progressive=yes"),
        Case(make: "pngsave", options: ["--compression", "1"], chain: "save progressive=yes"),
        Case(make: "pngsave", options: ["--compression", "1"], chain: "save format=png progressive=yes"),
        Case(make: "jpegsave", chain: "save format=webp lossless=yes"),
        Case(make: "jpegsave", chain: "save max-bytes=2M", isNoise: true),
        Case(make: "pngsave", options: ["--compression", "1"], chain: "save max-bytes=2M", isNoise: true),
        Case(make: "pngsave", options: ["--compression", "1"], chain: "save format=webp max-bytes=2M"),
        Case(make: "jpegsave", chain: "rotate"),
        Case(make: "jpegsave", chain: "flip | crop ratio=1:1"),
        Case(make: "jpegsave", chain: "resize scale=0.5 | rotate | chrome"),
        Case(make: "jpegsave", chain: "autolevels"),
        Case(make: "jpegsave", chain: "crop ratio=1:1 position=attention"),
        Case(make: "jpegsave", chain: "tilt-shift"),
        Case(make: "jpegsave", chain: "blur radius=5"),
        Case(make: "jpegsave", chain: "sharpen | grain | vignette"),
        Case(make: "pngsave", options: ["--compression", "1"], chain: "blur", hasAlpha: true),
        Case(make: "pngsave", options: ["--compression", "1"], chain: "watermark text=Ada", has16Bit: true),
    ]

    /// Cases whose pictures take long to make or to encode.
    private static let slow = [
        Case(make: "jpegsave", chain: "resize width=500 | save format=jxl effort=9"),
        Case(make: "heifsave", options: ["--compression", "hevc", "--effort", "0"], chain: "noir"),
        Case(make: "webpsave", options: ["--page-height", "600"], chain: "save format=webp pages=all", isNoise: true),
        Case(make: "pngsave", options: ["--compression", "1"], chain: "save format=gif effort=9", hasAlpha: true),
        Case(
            make: "gifsave", options: ["--bitdepth", "3", "--effort", "1", "--page-height", "1200"],
            chain: "blur | save format=gif pages=all"),
        Case(make: "webpsave", options: ["--page-height", "240"], chain: "save format=gif pages=all"),
        Case(make: "webpsave", options: ["--page-height", "1200"], chain: "save format=gif pages=all"),
        Case(
            make: "gifsave", options: ["--bitdepth", "3", "--effort", "1", "--page-height", "600"],
            chain: "resize scale=0.5 | save format=webp pages=all max-bytes=200K"),
        Case(make: "jpegsave", chain: "resize scale=0.5 | save format=avif effort=6 chroma=444"),
        Case(make: "jpegsave", chain: "resize scale=0.5 | save format=avif effort=9 chroma=444"),
        Case(make: "jpegsave", chain: "save format=gif"),
        Case(make: "jpegsave", chain: "resize width=500 | save format=jxl lossless=yes effort=9"),
        Case(make: "jpegsave", chain: "resize scale=0.5 | save format=jxl effort=7"),
        Case(make: "jpegsave", chain: "resize scale=0.5 | save format=jxl max-bytes=30K"),
        Case(
            make: "heifsave", options: ["--compression", "hevc", "--effort", "0", "--bitdepth", "10"], has16Bit: true),
        Case(make: "webpsave", chain: "save format=webp", isNoise: true),
        Case(make: "jpegsave", chain: "save format=webp lossless=yes", isNoise: true),
    ]

    /// A picture of 3200 × 2400 pixels in soft colours. The tests' own code is slow, so it makes a smaller picture,
    /// which libvips enlarges.
    private static let large = Result { try made() }
    private static let large16 = Result { try made(is16Bit: true) }
    private static let largeAlpha = Result { try made(alpha: true) }

    private static let largeNoise = Result {
        try VipsTool.run(
            "replicate", Pixels.noise(320, 240).file(.png), ["10", "10"], suffix: ".png")
    }

    private static func made(is16Bit: Bool = false, alpha: Bool = false) throws -> TemporaryFile {
        try Pixels.colourful(320, 240, alpha: alpha).file(.png, is16Bit: is16Bit) { picture in
            try picture.then { cvips_resize($0, $1, 10, 10, VIPS_KERNEL_NEAREST) }
        }
    }

    @Test(
        "The memory estimate is at least the real use, and at most half as much again",
        arguments: cases)
    func estimate(of example: Case) throws {
        let picture = try
            (example.isNoise
            ? Self.largeNoise : example.hasAlpha ? Self.largeAlpha : example.has16Bit ? Self.large16 : Self.large).get()
        let source = try VipsTool.run(example.make, picture, example.options)
        let worker = try WorkerProcess("--jxl")
        let estimate = Double(try worker.open(source, example.chain).memory)
        _ = try worker.render(into: TemporaryFile())
        let peak = Double(try worker.peak)
        #expect(estimate > peak * 0.97 && estimate < peak * 1.5, "\(estimate / peak) of \(Int(peak) >> 20) MB")
    }

    @Test(
        "The estimate holds for a picture with a gain map",
        arguments: [1, 4], ["save", "resize scale=0.5 | save", "resize scale=0.5 kernel=lanczos3 | save"])
    func gainMap(scale: Int, chain: String) throws {
        // Enlarging a small gain map is faster than drawing a large one.
        let map = try HDRFile.gains(160, 120, coloured: scale == 1).file(.jpeg, strip: true) { picture in
            try picture.then { cvips_resize($0, $1, 20 / Double(scale), 20 / Double(scale), VIPS_KERNEL_NEAREST) }
        }
        let source = try TemporaryFile(HDRFile(map).whole(VipsTool.run("jpegsave", Self.large.get()).bytes))
        let worker = try WorkerProcess()
        let header = try worker.open(source, chain)
        #expect(header.gainMapPlans == ["gain map kept"])
        _ = try worker.render(into: TemporaryFile())
        let (estimate, peak) = (Double(header.memory), Double(try worker.peak))
        #expect(estimate > peak * 0.97 && estimate < peak * 1.5, "\(estimate / peak) of \(Int(peak) >> 20) MB")
    }

    @Test("The estimate holds for several outputs that share one decoding", arguments: ["jpegsave", "pngsave"])
    func shared(make: String) throws {
        let source = try VipsTool.run(make, Self.large.get())
        let worker = try WorkerProcess()
        let header = try worker.open(source, "resize width=1600", "resize width=800", "resize width=1024 | noir")
        #expect(header.decoderPaths.allSatisfy { $0.contains("once for 3 outputs") })
        _ = try worker.render(into: TemporaryFile(), TemporaryFile(), TemporaryFile())
        let (estimate, peak) = (Double(header.memory), Double(try worker.peak))
        #expect(estimate > peak * 0.97 && estimate < peak * 1.5, "\(estimate / peak) of \(Int(peak) >> 20) MB")
    }

    @Test(
        "The estimate holds for a truncated JPEG, which falls back from planes to libvips",
        arguments: ["resize scale=0.5 | save format=webp", "save"])
    func cut(chain: String) throws {
        let bytes = try VipsTool.run("jpegsave", Self.large.get()).bytes
        let worker = try WorkerProcess()
        let header = try worker.open(
            TemporaryFile(Array(bytes.prefix(bytes.count * 9 / 10))), chain, onTruncated: .accept)
        _ = try worker.render(into: TemporaryFile())
        let (estimate, peak) = (Double(header.memory), Double(try worker.peak))
        #expect(estimate > peak * 0.97, "\(estimate / peak) of \(Int(peak) >> 20) MB")
    }

    @Test("A plane encoder without memory reports that as a failure of save, and the worker goes on")
    func exhausted() throws {
        let worker = try WorkerProcess()
        let source = try VipsTool.run("jpegsave", Self.largeNoise.get())
        _ = try worker.render(source, "resize width=20")
        // libwebp needs more than 100 MB for this picture, but its planes need only a quarter of that. The limit lies
        // in between.
        try worker.limitMemory(UInt64(worker.data) + (60 << 20))
        let failure = try worker.failure(source, "save format=webp")
        #expect(
            failure.stage == "save" && failure.message.contains("its encoder has no memory for 3200 × 2400 pixels"),
            "\(failure)")
        _ = try worker.render(source, "resize width=20")
    }

    @Test("The header of a progressive JPEG of 200 million pixels gives its memory need")
    func progressive() throws {
        var bytes = try VipsTool.run("jpegsave", Pixels.colourful(160, 120).file(.png), ["--interlace"]).bytes
        let frame = try #require(bytes.indices.first { bytes[$0...].starts(with: [0xff, 0xc2]) })
        bytes.replaceSubrange(frame + 5..<frame + 9, with: [0x30, 0xd4, 0x3e, 0x80])
        let header = try WorkerProcess().open(TemporaryFile(bytes), "resize width=100")
        #expect(header.width == 16000 && header.height == 12500 && header.progressive)
        #expect(header.memory > 600 << 20 && header.memory < 900 << 20)
    }
}
