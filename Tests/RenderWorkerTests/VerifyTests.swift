import CVips
import Foundation
import Glibc
import PipelineModel
import SystemCalls
import Testing
import WorkerProtocol

/// Tests that the worker checks the files of its results, and that it reads damaged and unusual sources.
struct VerifyTests {
    @Test(
        "A result that the disk lost is noticed, in every format",
        arguments: ["jpeg", "png", "webp", "avif", "gif", "jxl"])
    func swallowed(format: String) throws {
        let worker = try WorkerProcess("--jxl")
        for source in [Pixels.Format.png, .jpeg, .webp] {
            _ = try worker.open(Pixels.colourful(40, 30).file(source), "save format=\(format)")
            let answer = try worker.ask(.render, [Descriptor.open("/dev/null", O_RDWR)])
            guard case .failed(let failure) = answer else { throw Unexpected("\(answer)") }
            #expect(
                failure.stage == "save" && failure.message.contains("not the picture that was made"), "\(failure)")
            #expect(failure.advice?.contains("pipectl retry") == true)
        }
    }

    /// The file already contains another picture. The result is appended to it, so the file reads back as that other
    /// picture.
    @Test(
        "A file that reads back as another picture is noticed, in every format",
        arguments: ["jpeg", "png", "webp", "gif", "jxl"])
    func another(format: String) throws {
        let worker = try WorkerProcess("--jxl")
        let other = try worker.render(Pixels.colourful(60, 30).file(.png), "save format=\(format)")
        for chain in ["save format=\(format)", "resize scale=0.5 | noir | save format=\(format)"] {
            _ = try worker.open(Pixels.colourful(80, 60).file(.jpeg), chain)
            let answer = try worker.ask(.render, [TemporaryFile(other.bytes).reopened(O_RDWR | O_APPEND)])
            guard case .failed(let failure) = answer else { throw Unexpected("\(answer)") }
            #expect(
                failure.stage == "save" && failure.message.contains("it has 60 × 30 pixels, not"), "\(failure)")
        }
    }

    @Test("A JPEG whose header can't be read back is noticed")
    func header() throws {
        let worker = try WorkerProcess()
        let whole = try Pixels.colourful(80, 60).file(.jpeg)
        let begun = try #require(try whole.bytes.firstRange(of: [0xff, 0xc0])).lowerBound
        let starts: [[UInt8]] = try [Array(whole.bytes[..<begun]) + [0xff, 0xc0, 0, 3], [0xff, 0xd8, 0xff]]
        for start in starts {
            _ = try worker.open(whole, "resize scale=0.5 | noir")
            let answer = try worker.ask(.render, [TemporaryFile(start).reopened(O_RDWR | O_APPEND)])
            guard case .failed(let failure) = answer else { throw Unexpected("\(answer)") }
            #expect(failure.stage == "save" && failure.message.contains("its header is damaged"), "\(failure)")
        }
    }

    @Test(
        "The report of a result agrees with its file",
        arguments: ["jpeg", "png", "webp", "tiff", "avif", "gif", "jxl"])
    func told(format: String) throws {
        let worker = try WorkerProcess("--jxl")
        let source = try Pixels.colourful(50, 40, alpha: true).file(.png)
        let result = try TemporaryFile()
        _ = try worker.open(source, "noir | save format=\(format)")
        let told = try #require(try worker.render(into: result).first)
        let written = try Pixels(result)
        let bytes = Int64(try result.bytes.count)
        #expect((told.width, told.height) == (50, 40) && told.bytes == bytes)
        #expect(told.bands == written.bands && told.format == format)
    }

    @Test("A file that is written to during the read fails, even if it reads well")
    func writtenTo() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(60, 40).file(.png)
        _ = try worker.open(source, "noir")
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: source.path))
        try file.seekToEnd()
        try file.write(contentsOf: Data([0]))
        try file.close()
        let failure = try #require(throws: WorkerFailure.self) { try worker.render(into: TemporaryFile()) }
        #expect(failure.message == "the file was written to while it was read")
        _ = try worker.render(source, "noir")
    }

    @Test(
        "A picture without its end is rendered as far as it goes, if that is accepted",
        arguments: ["jpegsave", "pngsave", "gifsave"], ["resize scale=0.5 | noir", "resize scale=0.5", "noir"])
    func accepted(command: String, chain: String) throws {
        let worker = try WorkerProcess()
        let pixels = Pixels.colourful(400, 300)
        let whole = try VipsTool.run(command, pixels.file(.png))
        let cut = try TemporaryFile(Array(whole.bytes.prefix(whole.bytes.count * 9 / 10)))
        let failure = try worker.failure(cut, chain)
        #expect(failure.message.contains("its end is missing"))
        #expect(failure.advice?.contains("OnTruncated=accept") == true)
        let result = try Pixels(worker.render(cut, chain + " | save format=png", onTruncated: .accept))
        let expected = try Pixels(worker.render(whole, chain + " | save format=png"))
        #expect((result.width, result.height) == (expected.width, expected.height))
        // At least half of the picture exists. Lost parts of a GIF are transparent.
        for (x, y) in [(5, 5), (100, 20), (result.width / 2, result.height / 2)] {
            let difference = zip(result[x, y], expected[x, y]).map { abs($0 - $1) }.max()
            #expect(try #require(difference) < 16)
        }
    }

    @Test(
        "A JPEG that falls back from planes because its end is missing is rendered to every result as far as it goes",
        arguments: ["resize scale=0.5", "resize width=120", "save"], 1...3)
    func acceptedPlanes(chain: String, several: Int) throws {
        let worker = try WorkerProcess()
        let whole = try Pixels.colourful(400, 300).file(.jpeg)
        let cut = try TemporaryFile(Array(whole.bytes.prefix(whole.bytes.count * 9 / 10)))
        let chains = Array([chain, "resize width=90 | noir", "resize width=100 | save format=webp"].prefix(several))
        let outputs = try chains.map { RenderOutput(name: nil, stages: try worker.chain($0)) }
        let paths = try worker.open([cut], outputs, onTruncated: .accept).decoderPaths
        #expect(paths.allSatisfy { $0.contains("planes") }, "\(paths)")
        let files = try chains.map { _ in try TemporaryFile() }
        let answer = try worker.ask(.render, files.map { try $0.reopened(O_RDWR) })
        guard case .rendered = answer else { throw Unexpected("\(answer)") }
        for (file, expected) in try zip(files, worker.render(whole, chains)) {
            let (result, expected) = try (Pixels(file), Pixels(expected))
            #expect((result.width, result.height) == (expected.width, expected.height))
            for (x, y) in [(5, 5), (result.width / 2, result.height / 2)] {
                let difference = zip(result[x, y], expected[x, y]).map { abs($0 - $1) }.max()
                #expect(try #require(difference) < 16)
            }
        }
    }

    @Test("Damaged metadata does not keep good pixels from being rendered", arguments: ["keep", "copyright", "strip"])
    func damagedMetadata(policy: String) throws {
        let worker = try WorkerProcess("--jxl")
        let plain = try Pixels.colourful(60, 40).file(.jpeg).bytes
        let noise = (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 197 ^ $0 >> 3) }
        func segment(_ marker: UInt8, _ name: [UInt8]) -> [UInt8] {
            let body = name + noise
            return [0xff, marker, UInt8((body.count + 2) >> 8), UInt8((body.count + 2) & 255)] + body
        }
        let damaged: [[UInt8]] = [
            segment(0xe1, Array("Exif\0\0".utf8)),
            segment(0xe1, Array("Exif\0\0MM\0*\0\0\0\u{8}".utf8)),
            segment(0xe1, Array("http://ns.adobe.com/xap/1.0/\0".utf8)),
            segment(0xe2, Array("ICC_PROFILE\0".utf8) + [1, 1]),
            segment(0xe2, Array("ICC_PROFILE\0".utf8) + [9, 3]),
            segment(0xed, Array("Photoshop 3.0\0".utf8)),
        ]
        for segment in damaged {
            let source = try TemporaryFile(plain.prefix(2) + segment + plain.dropFirst(2))
            for chain in [
                "resize scale=0.5 | noir", "noir", "resize scale=0.5 | save format=png",
                "resize scale=0.5 | save format=webp", "save", "save format=jxl",
            ] {
                let end = chain.contains("save") ? " metadata=\(policy)" : " | save metadata=\(policy)"
                #expect(try Pixels(worker.render(source, chain + end)).width > 0)
            }
        }
    }

    @Test("One pixel, and one row of the greatest width, are valid pictures")
    func extremes() throws {
        let worker = try WorkerProcess("--jxl")
        for format in ["jpeg", "png", "webp", "tiff", "avif", "gif", "jxl"] {
            let one = try Pixels(1, 1) { _, _ in [200, 100, 50] }.file(.png)
            for chain in ["resize scale=0.5 | noir", "resize width=1 height=1 fit=cover", "noir"] {
                #expect(try Pixels(worker.render(one, chain + " | save format=\(format)")).width == 1)
            }
        }
        let row = try Pixels(1, 1) { _, _ in [90] }.file(.png) { picture in
            try picture.then { cvips_resize($0, $1, 65535, 1, VIPS_KERNEL_NEAREST) }
        }
        #expect(try Pixels(worker.render(row, "resize scale=0.5 | noir")).width == 32767)
    }

    @Test(
        "Palettes, bits, floating samples and animations are read",
        arguments: [
            ["pngsave", "--palette"], ["pngsave", "--palette", "--bitdepth", "1"], ["gifsave"],
            ["gifsave", "--page-height", "20"], ["webpsave", "--page-height", "20"], ["tiffsave", "--bitdepth", "1"],
            ["tiffsave", "--compression", "jpeg"], ["tiffsave", "--compression", "lzw", "--pyramid", "--tile"],
            ["heifsave", "--compression", "hevc"],
        ])
    func kinds(command: [String]) throws {
        let picture = try Pixels.colourful(80, 60).file(.png)
        let source = try VipsTool.run(command[0], picture, Array(command.dropFirst()))
        let result = try Pixels(WorkerProcess().render(source, "resize scale=0.5 | noir"))
        #expect(result.width == 40)
        #expect(result.height == (command.contains("--page-height") ? 10 : 30))
    }
}
