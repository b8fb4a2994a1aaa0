import Foundation
import Glibc
import PipelineModel
import SystemCalls
import TestTools
import Testing
import WorkerProtocol

/// Tests pictures that can't be rendered, and the messages that their users get.
struct RefusalTests {
    @Test("A text named .jpg is called a text")
    func text() throws {
        let source = try TemporaryFile(Array("Dear diary, this is no picture at all.".utf8))
        let failure = try WorkerProcess().failure(source, name: "holiday.jpg", "noir")
        #expect(failure.stage == "open")
        #expect(failure.message == "this is no picture that pipelined reads (it looks like text)")
        #expect(failure.advice == "JPEG, PNG, WebP, TIFF, GIF, HEIC, AVIF, BMP and cameras' raw files are read")
    }

    @Test("An empty file is called empty")
    func empty() throws {
        #expect(try WorkerProcess().failure(TemporaryFile(), "noir").message == "the file is empty")
    }

    @Test(
        "Other types of file are named",
        arguments: [
            ("%PDF-1.7 ", "PDF"), ("<svg xmlns=", "SVG"), ("PK\u{3}\u{4} ", "ZIP"), ("BM or P5 ", "text"),
            ("P5 of 7", "text"),
        ])
    func others(start: String, name: String) throws {
        let failure = try WorkerProcess().failure(TemporaryFile(Array(start.utf8)), "noir")
        #expect(failure.message.contains(name))
    }

    @Test("TGA and the PGM family are named, with the remedy, whatever their pixels are")
    func simpleFormats() throws {
        let worker = try WorkerProcess()
        let text = Array("text text text text text ".utf8)
        let tga: [UInt8] = [0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 4, 0, 24, 0]
        let mapped: [UInt8] = [0, 1, 9, 0, 0, 0, 1, 24, 0, 0, 0, 0, 4, 0, 4, 0, 8, 0x20]
        let files: [(bytes: [UInt8], name: String)] = [
            (tga + text, "TGA"), (mapped + text, "TGA"),
            ([26] + text + Array("TRUEVISION-XFILE.\0".utf8), "TGA"), (Array("P1\n2 2\n0 1 1 0\n".utf8), "PBM"),
            (Array("P5 5 5 255\n".utf8) + text, "PGM"), (Array("P6\n# by hand\n2 2 255\n".utf8) + text, "PPM"),
            (Array("P4\n9 9\n".utf8) + [0, 255, 7], "PBM"), (Array("P7\nWIDTH 5\n".utf8), "PAM"),
            (Array("PF\n5 5\n-1\n".utf8), "PFM"),
        ]
        for file in files {
            let failure = try worker.failure(TemporaryFile(file.bytes), name: "a.jpg", "noir")
            #expect(
                failure.message.hasPrefix("this is a \(file.name) picture, which pipelined does not read"), "\(failure)"
            )
            #expect(failure.advice?.hasPrefix("save it as PNG or TIFF") == true)
        }
    }

    @Test("A TIFF that points before its start is called damaged, and the disk is not blamed")
    func beforeTheStart() throws {
        let worker = try WorkerProcess()
        for place: UInt64 in [.max - 15, 1 << 63, (1 << 63) - 1] {
            let offset = (0..<8).map { UInt8(truncatingIfNeeded: place >> (8 * $0)) }
            let source = try TemporaryFile([0x49, 0x49, 43, 0, 8, 0, 0, 0] + offset + Array(repeating: 0, count: 100))
            let failure = try worker.failure(source, "noir")
            #expect(failure.class == .input, "\(failure)")
        }
    }

    @Test("A PNG's fault is described in words")
    func brokenPNG() throws {
        let worker = try WorkerProcess()
        let whole = try Pixels.colourful(40, 30).file(.png).bytes
        func changed(_ change: (inout [UInt8]) -> Void) throws -> TemporaryFile {
            var bytes = whole
            change(&bytes)
            bytes.replaceSubrange(29..<33, with: PNGChunk.checksum(bytes[12..<29]))
            return try TemporaryFile(bytes)
        }
        let end: [UInt8] = [0, 0, 0, 0] + Array("IEND".utf8) + [0xae, 0x42, 0x60, 0x82]
        // Depending on its build, libvips reads PNG with libpng or with libspng, whose messages differ.
        let files: [(file: TemporaryFile, libpng: String, libspng: String)] = try [
            (
                changed { $0.replaceSubrange(16..<20, with: [0, 0, 0, 0]) },
                "Image width is zero in IHDR", "invalid image width"
            ),
            (changed { $0[24] = 3 }, "Invalid color type/bit depth combination in IHDR", "invalid bit depth"),
            (changed { $0[25] = 3 }, "Missing PLTE before IDAT", "missing PLTE for indexed image"),
            (changed { $0[28] = 9 }, "Unknown interlace method in IHDR", "invalid interlace method"),
            (TemporaryFile(Array(whole.prefix(33)) + end), "IEND: out of place", "invalid chunk position"),
            (
                TemporaryFile(Array(whole.prefix(40))), "its end is missing (not enough data)",
                "is missing (end of stream)"
            ),
        ]
        for file in files {
            for chain in ["noir", "save format=png"] {
                let message = try worker.failure(file.file, chain).message
                #expect(message.contains(file.libpng) || message.contains(file.libspng), "\(file): \(message)")
            }
        }
        var middle = try Pixels.colourful(400, 300).file(.png).bytes
        for index in middle.count / 2..<middle.count / 2 + 20 { middle[index] ^= 0xff }
        let vague = try worker.failure(TemporaryFile(middle), "save format=png").message
        #expect(!vague.contains("error in tile") && !vague.contains("read error"), "\(vague)")
        // The next failure must not contain the reason of the previous one.
        let cut = try TemporaryFile(Array(Pixels.colourful(400, 300).file(.jpeg).bytes.prefix(3000)))
        let next = try worker.failure(cut, "noir").message
        #expect(!next.contains("not enough data") && !next.contains("end of stream"), "\(next)")
    }

    @Test("A whole AVIF that is too large for its decoder is not called truncated")
    func largeAVIF() throws {
        var bytes = try Pixels.colourful(64, 48).file(.avif).bytes
        let sign = Array("ispe".utf8)
        let at = try #require(bytes.indices.first { bytes[$0...].starts(with: sign) })
        bytes.replaceSubrange(at + 8..<at + 16, with: [0, 0, 0x9c, 0x40, 0, 0, 0x9c, 0x40])
        let failure = try WorkerProcess().failure(TemporaryFile(bytes), "noir")
        // libheif reports its limit as the length of a side or as a number of pixels. Some 1.19 versions of libheif
        // have a limit above MaxPixels=, so with them the worker itself refuses the picture.
        if failure.message.hasPrefix("the picture is larger than its decoder takes") {
            #expect(failure.message.contains("40000x40000"))
            #expect(failure.message.contains("16384") || failure.message.contains("\(16384 * 16384)"), "\(failure)")
        } else {
            let words = "40000 × 40000 are 1600000000 pixels, more than MaxPixels="
            #expect(failure.message.hasPrefix(words), "\(failure)")
        }
    }

    @Test("A camera's RAW file is distinguished from the TIFF that it also is")
    func raw() throws {
        let worker = try WorkerProcess()
        let tiff = try Pixels.colourful(32, 32).file(.tiff)
        // The only entry in IFD0 is DNGVersion, with the value 1.4.0.0.
        let dng: [UInt8] =
            Array("II".utf8) + [42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0xc6, 1, 0, 4, 0, 0, 0, 1, 4, 0, 0, 0, 0, 0, 0]
        for (file, name) in try [(tiff, "DSC_0001.NEF"), (TemporaryFile(dng), "scan.tif")] {
            let failure = try worker.failure(file, name: name, "noir")
            #expect(failure.message.hasPrefix("LibRaw can't read this camera's file"), "\(failure)")
        }
        _ = try worker.render(tiff, "noir")
    }

    @Test("A picture without its end fails, by every decoder path", arguments: [0.3, 0.6, 0.95])
    func truncated(part: Double) throws {
        let worker = try WorkerProcess()
        let pixels = Pixels.colourful(900, 700)
        for format in [Pixels.Format.jpeg, .png, .webp, .tiff, .avif] {
            let whole = try pixels.file(format).bytes
            let cut = try TemporaryFile(Array(whole.prefix(Int(Double(whole.count) * part))))
            for chain in [
                "resize scale=0.5 | noir", "resize scale=0.5", "resize scale=0.5 kernel=lanczos3 | noir",
                "save format=png", "save format=webp", "save", "noir | save format=webp",
            ] {
                let failure = try worker.failure(cut, chain)
                #expect(failure.stage == "open", "\(format) \(chain): \(failure)")
                if format != .avif, format != .tiff {
                    #expect(failure.message.contains("its end is missing"), "\(format) \(chain): \(failure)")
                }
            }
        }
    }

    @Test("A JPEG that is damaged in the middle fails, by every decoder path")
    func damaged() throws {
        let worker = try WorkerProcess()
        var bytes = try Pixels.colourful(900, 700).file(.jpeg).bytes
        let middle = bytes.count / 2
        for index in stride(from: middle, to: middle + 32, by: 2) { (bytes[index], bytes[index + 1]) = (0xff, 0xd3) }
        let source = try TemporaryFile(bytes)
        for chain in ["resize scale=0.5 | noir", "resize scale=0.5", "noir", "save format=png", "save format=webp"] {
            let failure = try worker.failure(source, chain)
            #expect(failure.stage == "open" && failure.message.contains("damaged"), "\(chain): \(failure)")
        }
    }

    @Test("Extra bytes between a JPEG's markers, as some cameras write them, do no harm")
    func extraneousBytes() throws {
        let worker = try WorkerProcess()
        let bytes = try Pixels.colourful(400, 300).file(.jpeg).bytes
        let source = try TemporaryFile(bytes.dropLast(2) + [0, 0, 0, 0] + bytes.suffix(2))
        for chain in ["resize scale=0.5 | noir", "resize scale=0.5", "noir"] {
            #expect(try Pixels(worker.render(source, chain)).width > 0)
        }
    }

    @Test("More pixels than MaxPixels are refused by the header, with both numbers")
    func maxPixels() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(400, 300).file(.png)
        let failure = try #require(throws: WorkerFailure.self) { try worker.open(source, "noir", maxPixels: 100_000) }
        #expect(failure.stage == "open")
        #expect(failure.message.contains("120000") && failure.message.contains("MaxPixels=100000"))
        #expect(try worker.open(source, "noir", maxPixels: 120_000).width == 400)
    }

    @Test(
        "A full disk is reported as a failure of save, every time",
        arguments: [
            ("jpeg", 10), ("png", Sweep.of(100, all: 500)), ("tiff", Sweep.of(30, all: 100)), ("webp", 10), ("avif", 3),
            ("gif", 10), ("jxl", 10),
        ])
    func fullDisk(format: String, times: Int) throws {
        let worker = try WorkerProcess("--jxl")
        // If `format` is jpeg or webp, the worker encodes the JPEG and the WebP from planes, but not the PNG.
        let sources = try [Pixels.Format.png, .jpeg, .webp].map { try Pixels.colourful(400, 300).file($0) }
        for time in 1...times {
            _ = try worker.open(sources[time % sources.count], "save format=\(format)")
            let answer = try worker.ask(.render, [Descriptor.open("/dev/full", O_RDWR)])
            guard case .failed(let failure) = answer else { throw Unexpected("\(answer)") }
            #expect(
                failure.stage == "save" && failure.message == "the disk of the outbox is full", "\(format): \(failure)")
        }
    }

    @Test("A render without a picture, or without its files, gets an answer")
    func outOfTurn() throws {
        let worker = try WorkerProcess()
        guard case .failed = try worker.ask(.render) else { throw Unexpected("no failure") }
        _ = try worker.open(Pixels.colourful(40, 30).file(.png), "noir")
        guard case .failed(let failure) = try worker.ask(.render) else { throw Unexpected("no failure") }
        #expect(failure.stage == "save")
    }
}
