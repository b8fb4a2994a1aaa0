import CVips
import Glibc
import SystemCalls
import Testing
import WorkerProtocol

/// Tests that several outputs of a picture share one decoding.
struct SharedDecodingTests {
    private func render(_ worker: WorkerProcess, _ source: TemporaryFile, _ chains: [String]) throws -> [Pixels] {
        try worker.render(source, chains.map { $0 + " | save format=png" }).map { try Pixels($0) }
    }

    @Test("Several outputs are decoded once, at the largest needed size, and equal their separate renders")
    func once() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(1600, 1200).file(.jpeg)
        let chains = ["resize width=150", "resize width=640", "resize width=300 height=100 fit=cover | sepia"]
        for all in [chains, chains.map { $0 + " | save format=png" }] {
            #expect(
                try worker.open(source, all[0], all[1], all[2]).decoderPaths == [
                    "jpeg, planes, 1/2, once for 3 outputs, own decoder, lanczos3 by zimg (resize makes 150 × 112)",
                    "jpeg, planes, 1/2, once for 3 outputs, own decoder, lanczos3 by zimg (resize makes 640 × 480)",
                    "jpeg, planes, 1/2, once for 3 outputs, own decoder, lanczos3 by zimg (sepia needs luma only)",
                ])
        }
        let together = try render(worker, source, chains)
        for (chain, result) in zip(chains, together) {
            let alone = try render(worker, source, [chain])[0]
            #expect(alone.likeness(result) > 38, "\(chain)")
        }
    }

    @Test("Large luma and small colours are decoded separately; a PNG is decoded once")
    func apart() throws {
        let worker = try WorkerProcess()
        let (noir, thumb) = ("resize scale=0.5 | noir", "resize width=80")
        let jpeg = try worker.open(Pixels.colourful(800, 600).file(.jpeg), noir, thumb).decoderPaths
        #expect(
            jpeg == [
                "jpeg, greyscale, 1/2, own decoder (noir needs luma only)",
                "jpeg, planes, 1/8, own decoder, lanczos3 by zimg (resize makes 80 × 60)",
            ])
        let png = try worker.open(Pixels.colourful(800, 600).file(.png), noir, thumb).decoderPaths
        #expect(
            png == [
                "png, whole, once for 2 outputs, own decoder (noir needs luma only)",
                "png, whole, once for 2 outputs, own decoder (resize makes 80 × 60; a png contains no smaller copy)",
            ])
    }

    @Test("Each output of a rotated picture is upright")
    func turned() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(800, 400).file(.jpeg) {
            vips_image_set_int($0.image, "orientation", 6)
            return $0
        }
        let results = try render(worker, source, ["resize height=400", "resize height=100", "noir"])
        #expect(results.map(\.width) == [200, 50, 400] && results.map(\.height) == [400, 100, 800])
    }

    @Test("A picture too large to hold in memory is decoded for each output")
    func large() throws {
        let worker = try WorkerProcess()
        let source = try VipsTool.run(
            "jpegsave",
            Pixels.colourful(100, 80).file(.png) { picture in
                try picture.then { cvips_resize($0, $1, 80, 80, VIPS_KERNEL_NEAREST) }
            })
        let paths = try worker.open(source, "sharpen", "resize width=900").decoderPaths
        #expect(
            paths == [
                "jpeg, whole (the chain begins at full size)",
                "jpeg, planes, 1/8, own decoder, lanczos3 by zimg (resize makes 900 × 720)",
            ])
    }

    @Test("Damage is also found when several outputs share one decoding")
    func damage() throws {
        let worker = try WorkerProcess()
        var bytes = try Pixels.colourful(800, 600).file(.jpeg).bytes
        bytes.removeLast(bytes.count / 2)
        _ = try worker.open(TemporaryFile(bytes), "resize width=300", "resize width=100")
        #expect(throws: WorkerFailure.self) { try worker.render(into: TemporaryFile(), TemporaryFile()) }
    }
}
