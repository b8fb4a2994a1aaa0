import CVips
import Foundation
import Glibc
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

@Suite("Results in JPEG XL")
struct JXLTests {
    @Test("A picture keeps its size, transparency and 16 bits, and looks the same", arguments: ["", "noir | "])
    func kinds(filter: String) throws {
        let worker = try WorkerProcess("--jxl")
        for (source, bands) in [
            (try Pixels.colourful(120, 80).file(.jpeg), 3), (try Pixels.colourful(121, 79).file(.png), 3),
            (try Pixels.colourful(120, 80, alpha: true).file(.png), 4),
            (try Pixels(120, 80) { x, y in [x + y] }.file(.png), 1),
            (try Pixels(120, 80) { x, y in [x + y, 255 - x] }.file(.png), 2),
            (try Pixels(120, 80) { x, y in [x * 500, y * 800, 9000] }.file(.png, is16Bit: true), 3),
        ] {
            let file = try worker.render(source, "\(filter)save format=jxl quality=95")
            let (result, plain) = try (
                VipsPicture(file), VipsPicture(worker.render(source, "\(filter)save format=png"))
            )
            let likeness = try result.pixels().likeness(plain.pixels(), most: plain.is16Bit ? 65535 : 255)
            #expect(result.image.pointee.Bands == (filter.isEmpty || bands < 3 ? bands : bands - 2))
            #expect(result.is16Bit == plain.is16Bit)
            #expect(likeness > 34, "\(bands) bands: \(likeness)")
        }
    }

    @Test("lossless preserves each pixel, with alpha, in 8 and 16 bits, at the lowest and the default effort")
    func lossless() throws {
        let worker = try WorkerProcess("--jxl")
        let alpha = Pixels(65, 43) { x, y in [x * 3, y * 5, x ^ y, x * 3] }
        let deep = Pixels(65, 43) { x, y in [x * 1000 + y, y * 1500, 65535 - x * y] }
        for options in ["", "effort=3", "metadata=strip"] {
            for (pixels, is16Bit) in [(Pixels.noise(65, 43), false), (alpha, false), (deep, true)] {
                let result = try worker.render(
                    pixels.file(.png, is16Bit: is16Bit), "save format=jxl lossless=yes \(options)")
                #expect(try Pixels(result) == pixels, "\(options)")
            }
        }
        #expect(try Pixels(worker.render(Pixels.noise(65, 43).file(.png), "save format=jxl")) != Pixels.noise(65, 43))
    }

    @Test("A higher quality makes a longer file, from 1 to 100, and even the best is lossy")
    func quality() throws {
        let worker = try WorkerProcess("--jxl")
        let pixels = Pixels.mixed(160, 120)
        let source = try pixels.file(.png)
        let files = try [1, 10, 29, 30, 60, 75, 95, 100].map { quality in
            try worker.render(source, "save format=jxl quality=\(quality)")
        }
        let lengths = try files.map { try $0.bytes.count }
        #expect(zip(lengths, lengths.dropFirst()).allSatisfy { $0 < $1 }, "\(lengths)")
        #expect(try Pixels(files[7]) != pixels)
        let usual = try worker.render(source, "save format=jxl")
        #expect(try usual.bytes == files[5].bytes)
    }

    @Test("effort ranges from 3 to 9, and a higher effort makes a smaller file with the same pixels")
    func effort() throws {
        let worker = try WorkerProcess("--jxl")
        let source = try Pixels.colourful(160, 120).file(.png)
        let files = try [3, 9].map { try worker.render(source, "save format=jxl lossless=yes effort=\($0)") }
        #expect(try files[1].bytes.count < files[0].bytes.count)
        #expect(try Pixels(files[0]) == Pixels(files[1]))
        #expect(throws: ChainProblem.self) { try worker.chain("save format=jxl effort=2") }
        #expect(throws: ChainProblem.self) { try worker.chain("save format=jxl effort=10") }
    }

    @Test("profile=keep preserves Display P3; otherwise it becomes sRGB")
    func profile() throws {
        let worker = try WorkerProcess("--jxl")
        let wide = try Pixels.colourful(160, 120).file(.png) {
            try $0.then { cvips_icc_transform($0, $1, "p3", "srgb", VIPS_INTENT_RELATIVE, 8) }
        }
        for options in ["profile=keep", "profile=srgb", "profile=keep metadata=copyright"] {
            let result = try Pixels(worker.render(wide, "save format=jxl lossless=yes \(options)"))
            #expect(try result == Pixels(worker.render(wide, "save format=png \(options)")), "\(options)")
        }
        let kept = try VipsPicture(worker.render(wide, "save format=jxl profile=keep"))
        #expect(kept.has("icc-profile-data"))
    }

    @Test("profile=keep preserves a table profile, and a profile that libjxl can't read fails with advice")
    func oddProfiles() throws {
        let worker = try WorkerProcess("--jxl")
        func picture(_ profile: [UInt8]) throws -> TemporaryFile {
            try Pixels.colourful(40, 30).file(.tiff) {
                $0.set("icc-profile-data", profile)
                return $0
            }
        }
        let whole = TableProfile.turnedColours.bytes
        for options in ["", "lossless=yes", "max-bytes=100K"] {
            let chain = "save format=jxl \(options)"
            #expect(try VipsPicture(worker.render(picture(whole), "\(chain) profile=keep")).has("icc-profile-data"))
            let cut = try picture(Array(whole.prefix(300)))
            let failure = try worker.failure(cut, "\(chain) profile=keep")
            #expect(
                failure.stage == "save" && failure.message.hasPrefix("the picture's profile is damaged"), "\(failure)")
            #expect(failure.advice?.hasPrefix("leave profile=keep out") == true)
            #expect(try Pixels(worker.render(cut, chain)).width == 40)
        }
    }

    @Test("The report has the format, the size, and the metadata that the format can't hold")
    func report() throws {
        let worker = try WorkerProcess("--jxl")
        for (policy, lost) in [("keep", ["IPTC"]), ("copyright", nil), ("strip", nil)] {
            _ = try worker.open(
                MetadataTests.photograph(), "resize width=40 height=70 fit=exact | save format=jxl metadata=\(policy)")
            let file = try TemporaryFile()
            let result = try #require(try worker.render(into: file).first)
            #expect(result.format == "jxl" && result.width == 40 && result.height == 70 && result.bands == 3)
            #expect(try result.bytes == file.bytes.count && result.lost == lost, "\(policy): \(result)")
            let tags = try ExifTool.read([file.path])[file.path]
            #expect(tags?["IFD0:Copyright"] == (policy == "strip" ? nil : "Joe Doe 2026"))
            // The pixels are upright, so the orientation is 1 or absent.
            #expect(["1", nil].contains(tags?["IFD0:Orientation"]), "\(policy): \(tags ?? [:])")
        }
    }

    @Test("The header states every size exactly")
    func sizes() throws {
        let worker = try WorkerProcess("--jxl")
        // Multiples of eight and certain aspect ratios have short forms in the header.
        for (width, height) in [
            (1, 1), (8, 8), (256, 8), (257, 8), (40, 30), (44, 33), (640, 360), (513, 2), (3, 8193),
        ] {
            _ = try worker.open(
                Pixels.colourful(9, 9).file(.png),
                "resize width=\(width) height=\(height) fit=exact | save format=jxl effort=3")
            let result = try worker.render(into: TemporaryFile()).first
            #expect(result?.width == width && result?.height == height)
        }
    }

    @Test("JPEG XL is never read, neither by a worker that writes it, nor for a plugin")
    func neverRead() throws {
        let folder = try TemporaryFolder()
        let worker = try WorkerProcess("--jxl")
        let made = try worker.render(Pixels.colourful(20, 20).file(.png), "save format=jxl")
        let failure = try worker.failure(made, "noir")
        #expect(failure.stage == "open" && failure.message.contains("it looks like a JPEG XL picture"), "\(failure)")

        let bytes = try made.bytes.map(String.init).joined(separator: ",")
        let body = """
            static unsigned char file[] = {\(bytes)};
            VipsImage *read = NULL;
            if (vips_jxlload_buffer(file, sizeof file, &read, NULL) == 0) host->fail(host, "it was read");
            else host->fail(host, vips_error_buffer());
            return -1;
            """
        try Plugin(name: "reads", body: body).compile(to: folder.path + "/reads.so")
        let refusal = try WorkerProcess(plugins: [folder.path], "--jxl").failure(
            Pixels.colourful(20, 20).file(.png), "reads")
        #expect(refusal.message.contains("blocked"), "\(refusal)")
    }

    @Test("A worker that was not told to load the encoder reports it missing, and makes all other formats")
    func notLoaded() throws {
        let worker = try WorkerProcess()
        #expect(worker.hello.missingEncoders == [])
        let source = try Pixels.colourful(20, 20).file(.png)
        let failure = try worker.failure(source, "save format=jxl")
        #expect(failure.stage == "save" && failure.message == "format=jxl, whose encoder is missing on this machine")
        #expect(failure.advice?.hasPrefix("install a libvips with JPEG XL, such as Debian's libvips42") == true)
        #expect(try Pixels(worker.render(source, "save format=avif")).width == 20)
    }

    @Test("Encoding makes no refused system call, with any number of threads")
    func confined() throws {
        // If a system call was refused, the message of a failing filter mentions that call.
        let folder = try TemporaryFolder()
        try Plugin(name: "fails", body: "host->fail(host, \"on purpose\"); return -1;").compile(
            to: folder.path + "/fails.so")
        let worker = try WorkerProcess(plugins: [folder.path], "--jxl")
        let source = try Pixels.colourful(900, 700).file(.jpeg)
        let outputs = [
            RenderOutput(name: nil, stages: try worker.chain("resize scale=0.5 | save format=jxl effort=3")),
            RenderOutput(name: nil, stages: try worker.chain("fails")),
        ]
        _ = try worker.open([source], outputs)
        let failure = try #require(throws: WorkerFailure.self) {
            try worker.render(into: TemporaryFile(), TemporaryFile())
        }
        #expect(failure.message == "on purpose")
    }

    @Test("A cancel during the encoding works, and the next result is complete")
    func cancelled() throws {
        let worker = try WorkerProcess("--jxl")
        let source = try Pixels.colourful(1000, 750).file(.png)
        _ = try worker.open(source, "resize scale=2 kernel=lanczos3 | save format=jxl effort=3")
        try worker.channel.send(SupervisorMessage.render, descriptors: [TemporaryFile().reopened(O_RDWR)])
        guard case .progress = try worker.message() else { throw Unexpected("no figure") }
        guard case .cancelled = try worker.ask(.cancel) else { throw Unexpected("not cancelled") }
        #expect(try Pixels(worker.render(source, "resize width=100 | save format=jxl")).width == 100)
    }
}

extension TemporaryFile {
    var isJXL: Bool { get throws { try bytes.dropFirst(4).starts(with: Array("JXL ".utf8)) } }
}
