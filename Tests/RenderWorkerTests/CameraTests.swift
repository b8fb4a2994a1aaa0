import Foundation
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

/// Tests cameras' raw files, with synthetic DNGs.
struct CameraTests {
    private static let pixels = Pixels.photographed(240, 160)

    private func jpeg(_ pixels: Pixels) throws -> [UInt8] { try pixels.file(.jpeg).bytes }

    @Test("The preview is decoded like any JPEG: shrunk, as planes, or as luma alone")
    func preview() throws {
        let worker = try WorkerProcess()
        let preview = try jpeg(Self.pixels)
        let dng = try DNG(pixels: Self.pixels, preview: preview).file, alone = try TemporaryFile(preview)
        for (chain, words) in [
            ("resize scale=0.5 | noir", "greyscale, 1/2"), ("resize scale=0.5", "planes, 1/2"),
            ("resize width=60 | save format=png", "1/2"), ("save", "planes, whole"),
        ] {
            let header = try worker.open(dng, name: "a.dng", chain)
            #expect(header.format == "dng" && header.width == 240 && header.height == 160)
            #expect(header.decoderPaths[0].hasPrefix("dng, preview 240 × 160 jpeg, \(words)"), "\(header.decoderPaths)")
            let result = try TemporaryFile()
            _ = try worker.render(into: result)
            #expect(try Pixels(result) == Pixels(worker.render(alone, chain)), "\(chain)")
        }
    }

    @Test("A developed picture has the photographed colours, at full size, at half size and with 16 bits")
    func colours() throws {
        let worker = try WorkerProcess()
        let dng = try DNG(pixels: Self.pixels).file
        for (chain, words) in [
            ("save format=png", "whole"), ("save quality=100 chroma=444", "whole"),
            ("resize scale=0.5 | save format=png", "1/2"),
        ] {
            let header = try worker.open(dng, name: "a.dng", chain, raw: .develop)
            #expect(header.decoderPaths[0].hasPrefix("dng, developed, \(words)"), "\(header.decoderPaths)")
            #expect(header.bitsPerSample == (chain.contains("png") ? 16 : 8))
            let result = try TemporaryFile()
            _ = try worker.render(into: result)
            let made = try VipsPicture(result).inMemory().pixels()
            let wanted =
                chain.hasPrefix("resize")
                ? Pixels(120, 80) { x, y in
                    (0..<3).map { band in
                        [(0, 0), (1, 0), (0, 1), (1, 1)].map { Self.pixels[2 * x + $0.0, 2 * y + $0.1][band] }.reduce(
                            2, +) / 4
                    }
                } : Self.pixels
            #expect(made.likeness(wanted) > 30, "\(chain): \(made.likeness(wanted)) dB")
        }
    }

    @Test("The preview and the samples are turned upright exactly once", arguments: 1...8)
    func orientation(_ orientation: Int) throws {
        let worker = try WorkerProcess()
        let preview = try jpeg(Self.pixels)
        // The expected result comes from a JPEG with the same orientation.
        let oracle = try worker.render(
            Self.pixels.file(.jpeg) {
                $0.set("orientation", orientation); return $0
            }, "save format=png")
        let dng = try DNG(pixels: Self.pixels, preview: preview, orientation: orientation).file
        for policy in [RawPolicy.preview, .develop] {
            _ = try worker.open(dng, name: "a.dng", "resize scale=1 | save format=png", raw: policy)
            let result = try TemporaryFile()
            _ = try worker.render(into: result)
            let (made, wanted) = (try VipsPicture(result).inMemory().pixels(), try Pixels(oracle))
            #expect(made.likeness(wanted) > 30, "\(policy): \(made.likeness(wanted)) dB")
        }
    }

    @Test("A preview that the camera has already turned upright is not turned again")
    func turnedPreview() throws {
        let worker = try WorkerProcess()
        let preview = try jpeg(Pixels.colourful(160, 240))
        let dng = try DNG(pixels: Self.pixels, preview: preview, orientation: 6).file
        #expect(try worker.open(dng, name: "a.dng", "save").orientation == 1)
    }

    @Test("A preview is refused, with the remedy, if a result would be larger or it claims the camera's size")
    func smallPreview() throws {
        let worker = try WorkerProcess()
        let dng = try DNG(pixels: Pixels.photographed(600, 400), preview: jpeg(Pixels.colourful(150, 100))).file
        for chain in [
            "resize edge=150", "resize width=100", "resize width=100 height=100 fit=cover | noir",
            "noir | resize edge=120",
        ] {
            #expect(try worker.open(dng, name: "a.dng", chain).width == 150, "\(chain)")
        }
        for chain in [
            "save", "noir", "resize scale=0.1", "resize edge=160", "resize width=160 height=10 fit=cover",
            "rotate | resize edge=100",
        ] {
            let failure = try #require(throws: WorkerFailure.self, "\(chain)") {
                try worker.open(dng, name: "a.dng", chain)
            }
            #expect(
                failure.class == .input && failure.message.contains("150 × 100")
                    && failure.message.contains("600 × 400"))
            #expect(failure.advice?.contains("Raw=develop") == true)
        }
        let half = try DNG(pixels: Pixels.photographed(600, 400), preview: jpeg(Pixels.colourful(300, 200))).file
        #expect(try worker.open(half, name: "a.dng", "save").width == 300)
        #expect(throws: WorkerFailure.self) { try worker.open(half, name: "a.dng", "resize edge=400") }
        let none = try worker.failure(DNG(pixels: Self.pixels).file, name: "a.dng", "save")
        #expect(none.message == "this dng holds no preview, which the recipe wants (Raw=preview)")
        #expect(none.advice?.contains("Raw=develop") == true)
    }

    @Test(
        "Results have the camera's metadata without the maker's notes, and `strip` removes all",
        arguments: [RawPolicy.preview, .develop])
    func metadata(policy: RawPolicy) throws {
        let worker = try WorkerProcess()
        let dng = try DNG(pixels: Self.pixels, preview: jpeg(Self.pixels)).file
        func result(_ chain: String) throws -> VipsPicture {
            _ = try worker.open(dng, name: "a.dng", chain, raw: policy)
            let result = try TemporaryFile()
            _ = try worker.render(into: result)
            return try VipsPicture(result)
        }
        for chain in ["save", "save format=webp", "resize scale=0.5 | noir"] {
            let kept = try result(chain)
            #expect(kept.exif("ifd0-Model") == "Difference Engine" && kept.exif("ifd0-Artist") == "Ada Lovelace")
            #expect(
                kept.exif("ifd2-DateTimeOriginal") == "2024:05:06 07:08:09"
                    && kept.exif("ifd2-ISOSpeedRatings") == "400")
            #expect(!kept.has("exif-ifd2-MakerNote"))
        }
        #expect(try !result("save metadata=strip").has("exif-data"))
    }

    @Test("More samples than MaxPixels= are refused before the decoding")
    func maxPixels() throws {
        let worker = try WorkerProcess()
        let dng = try DNG(pixels: Self.pixels, claimed: (60000, 60000)).file
        let failure = try #require(throws: WorkerFailure.self) {
            try worker.open(dng, name: "a.dng", "save", onTruncated: .accept, raw: .develop)
        }
        #expect(failure.message.contains("more than MaxPixels="), "\(failure)")
        _ = try worker.render(Self.pixels.file(.png), "save")
    }

    @Test(
        "A truncated file is reported as such, by each decoder path, and the worker survives",
        arguments: [0.3, 0.6, 0.9, 0.999])
    func cut(part: Double) throws {
        let worker = try WorkerProcess()
        let whole = try DNG(pixels: Self.pixels, preview: jpeg(Self.pixels)).bytes
        let cut = try TemporaryFile(Array(whole.prefix(Int(Double(whole.count) * part))))
        for policy in [RawPolicy.preview, .develop] {
            let failure = try #require(throws: WorkerFailure.self) {
                _ = try worker.open(cut, name: "a.dng", "save", raw: policy)
                _ = try worker.render(into: TemporaryFile())
            }
            #expect(failure.stage == "open" && failure.class == .input)
            #expect(failure.message.contains("its end is missing"), "\(failure)")
        }
        // The preview precedes the samples in the file, so it is complete.
        _ = try worker.open(cut, name: "a.dng", "save", onTruncated: .accept)
        _ = try worker.render(into: TemporaryFile())
    }

    @Test("Corrupt bytes cost no worker, and no failure is blamed on a refused system call")
    func flipped() throws {
        let worker = try WorkerProcess()
        let whole = try DNG(pixels: Pixels.photographed(64, 48), preview: jpeg(Pixels.photographed(64, 48))).bytes
        let samples = whole.count - 64 * 48 * 2
        var state: UInt32 = 7
        func random(_ most: Int) -> Int {
            state = state &* 1_664_525 &+ 1_013_904_223
            return Int(state >> 8) % most
        }
        for turn in 0..<300 {
            var bytes = whole
            for _ in 0..<1 + turn % 4 {
                bytes[turn % 2 == 0 ? random(samples) : samples - 1 - random(700)] = UInt8(random(256))
            }
            let source = try TemporaryFile(bytes)
            do {
                _ = try worker.open(
                    source, name: "a.dng", "resize scale=0.5 | noir", raw: turn % 3 == 0 ? .preview : .develop)
                _ = try worker.render(into: TemporaryFile())
            } catch let failure as WorkerFailure {
                #expect(failure.class == .input && failure.stage != WorkerFailure.confinement, "\(turn): \(failure)")
            }
        }
        _ = try worker.render(Self.pixels.file(.png), "save")
    }

    @Test(
        "Several outputs are developed once, and the memory estimate holds",
        arguments: [RawPolicy.preview, .develop])
    func memory(policy: RawPolicy) throws {
        let pixels = Pixels.photographed(3200, 2400)
        let dng = try DNG(pixels: pixels, preview: jpeg(pixels)).file
        for chains in [
            ["save"], ["resize scale=0.5 | noir"], ["save format=png"],
            ["resize width=1600", "resize width=800 | noir"],
        ] {
            let worker = try WorkerProcess()
            let header = try worker.open(
                [dng], name: "a.dng", chains.map { RenderOutput(name: nil, stages: try worker.chain($0)) }, raw: policy)
            let targets = try chains.map { _ in try TemporaryFile() }
            if chains.count > 1 { #expect(header.decoderPaths.allSatisfy { $0.contains("once for 2 outputs") }) }
            _ = try worker.render(into: targets)
            let (estimate, peak) = (Double(header.memory), Double(try worker.peak))
            #expect(
                estimate > peak * 0.97 && estimate < peak * 1.5,
                "\(policy) \(chains): \(estimate / peak) of \(Int(peak) >> 20) MB")
        }
    }

    @Test("A cancel stops a development")
    func cancel() throws {
        let worker = try WorkerProcess()
        let dng = try DNG(pixels: Pixels.photographed(2400, 1600)).file
        _ = try worker.open(dng, name: "a.dng", "save", raw: .develop)
        try worker.channel.send(SupervisorMessage.render, descriptors: [TemporaryFile().reopened(O_RDWR)])
        // A progress message shows that the worker is developing the picture.
        guard case .progress = try worker.message() else { throw Unexpected("no progress") }
        try worker.channel.send(SupervisorMessage.cancel)
        guard case .cancelled = try worker.answer() else { throw Unexpected("it went on") }
    }

    @Test("A picture behind a barrier gets its metadata from the camera's file")
    func barrier() throws {
        let worker = try WorkerProcess()
        let dng = try DNG(pixels: Self.pixels, preview: jpeg(Self.pixels), orientation: 6).file
        let handedOver = try Pixels.colourful(160, 240).file(.png, strip: true)
        _ = try worker.open(
            [handedOver, dng], name: "a.dng", [RenderOutput(name: nil, stages: try worker.chain("save"))])
        let result = try TemporaryFile()
        _ = try worker.render(into: result)
        let made = try VipsPicture(result)
        #expect(made.exif("ifd0-Model") == "Difference Engine")
        #expect(try made.pixels().width == 160)
    }

    @Test("Files of other makers are recognised by their first bytes; an invalid one says that LibRaw can't read it")
    func others() throws {
        let worker = try WorkerProcess()
        for start in ["FUJIFILMCCD-RAW ", "IIRO\u{8}\0\0\0", "IIU\0\u{8}\0\0\0", "II*\0\u{10}\0\0\0CR\u{2}\0"] {
            let failure = try worker.failure(
                TemporaryFile(Array(start.utf8) + Array(repeating: 0, count: 4000)), "noir")
            #expect(
                failure.stage == "open" && failure.class == .input && failure.message.contains("camera's file"),
                "\(failure)")
        }
    }
}
