import CVips
import Foundation
import Glibc
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

@Suite("Animations")
struct AnimationTests {
    private typealias Frame = AnimatedGIF.Frame

    private static let moving = AnimatedGIF(
        loop: 3, frames: [Frame(colour: 10, delay: 5), Frame(colour: 120, delay: 12), Frame(colour: 230, delay: 100)])

    /// Returns the animation as a GIF and as a WebP.
    private static func sources(_ gif: AnimatedGIF = moving) throws -> [TemporaryFile] {
        let file = try gif.file()
        return [file, try WorkerProcess().render(file, "save format=webp quality=100 pages=all")]
    }

    /// Returns the frames of a file as separate pictures, without their alpha.
    private static func frames(_ file: TemporaryFile) throws -> [Pixels] {
        let strip = try VipsPicture(framesOf: file).bands(0, 3).pixels()
        let height = try #require(VipsPicture(framesOf: file).integer("page-height"))
        return (0..<strip.height / height).map { number in
            Pixels(strip.width, height) { strip[$0, number * height + $1] }
        }
    }

    private static func isNear(_ pixel: [Int], _ colour: [Int], by most: Int = 12) -> Bool {
        zip(pixel, colour).allSatisfy { abs($0 - $1) <= most }
    }

    @Test("A GIF and a WebP stay animations as WebP and as GIF, frame by frame, with their times and repetitions")
    func kept() throws {
        let worker = try WorkerProcess()
        for source in try Self.sources() {
            for format in ["webp", "gif"] {
                let header = try worker.open(source, "resize scale=0.5 | save format=\(format) pages=all")
                #expect(header.pages == 3 && header.framesTaken == [3] && header.pixelsToRead == 40 * 30 * 3)
                #expect(header.decoderPaths == ["\(header.format), all 3 frames (pages=all)"])
                let result = try TemporaryFile()
                let told = try #require(try worker.render(into: result).first)
                #expect((told.width, told.height, told.pages, told.format) == (20, 15, 3, format))
                #expect(try Timing(result) == Timing(delays: [50, 120, 1000], loop: 3))
                let frames = try Self.frames(result)
                for (frame, colour) in zip(frames, [10, 120, 230] as [UInt8]) {
                    for (x, y) in [(0, 0), (19, 0), (10, 7), (0, 14), (19, 14)] {
                        #expect(Self.isNear(frame[x, y], AnimatedGIF.colour(colour)), "\(format) \(frame[x, y])")
                    }
                }
            }
        }
    }

    @Test("exiftool counts the same frames, time and repetitions")
    func foreignReader() throws {
        let worker = try WorkerProcess()
        let source = try Self.moving.file()
        let (gif, webp) = try (
            worker.render(source, "save format=gif pages=all"), worker.render(source, "save format=webp pages=all")
        )
        let read = try ExifTool.read([gif.path, webp.path])
        #expect(read[gif.path]?["GIF:FrameCount"] == "3" && read[gif.path]?["GIF:AnimationIterations"] == "3")
        #expect(read[gif.path]?["GIF:Duration"] == "1.17" && read[webp.path]?["RIFF:Duration"] == "1.17")
        #expect(read[webp.path]?["RIFF:AnimationLoopCount"] == "4")
    }

    @Test("Each frame goes through the chain once, in order, however many threads request rows")
    func once() throws {
        let folder = try TemporaryFolder()
        // The filter makes each frame lighter than the previous one, which reveals their order.
        try Plugin(
            name: "count",
            body: """
                static int count = 0;
                double light = 10 * ++count, keep[] = {0, 0, 0, 1}, add[] = {light, light, light, 0};
                return vips_linear(in, out, keep, add, in->Bands, "uchar", TRUE, NULL);
                """
        ).compile(to: folder.path + "/count.so")
        let worker = try WorkerProcess(plugins: [folder.path, WorkerProcess.programs.path])
        // A blur works in tiles. The tiles' edges do not coincide with the frames' edges.
        let source = try AnimatedGIF(
            width: 500, height: 203, frames: (0..<9).map { AnimatedGIF.Frame(colour: UInt8($0)) }
        ).file()
        for format in ["webp lossless=yes", "gif"] {
            let chain = "blur radius=1 unit=px | count | save format=\(format) pages=all"
            let lights = try Self.frames(worker.render(source, chain)).map { $0[250, 100][0] }
            let first = try #require(lights.first)
            #expect(lights == (0..<9).map { first + 10 * $0 }, "\(format)")
        }
    }

    @Test("Without pages=all the result is the first frame", arguments: ["jpeg", "webp", "gif", "same"])
    func first(format: String) throws {
        let worker = try WorkerProcess()
        for source in try Self.sources() {
            for pages in ["", "pages=first"] {
                #expect(try worker.open(source, "save format=\(format) \(pages)").framesTaken == [1])
                let result = try TemporaryFile()
                #expect(try worker.render(into: result).map(\.pages) == [1])
                #expect(try Self.isNear(Pixels(result)[20, 15], AnimatedGIF.colour(10)))
            }
            _ = try worker.open(source, "resize scale=2 | save format=\(format)")
            let larger = try worker.render(into: TemporaryFile())
            #expect(larger.map(\.pages) == [1] && larger.map(\.height) == [60], "\(larger)")
        }
    }

    @Test("Filters, rotations and tables of several filters work on each frame separately")
    func filters() throws {
        let worker = try WorkerProcess()
        // The lower half of each frame has a different colour.
        let halves = AnimatedGIF(
            frames: [10, 200].flatMap { colour in
                [
                    Frame(colour: colour, delay: 10),
                    Frame(colour: 255 - colour, delay: 10, place: (x: 0, y: 15, width: 40, height: 15)),
                ]
            })
        for source in try Self.sources(halves) {
            for chain in [
                "noir", "sepia | fade", "rotate", "flip | blur", "autolevels", "crop ratio=1:1 | border width=2",
                "resize scale=0.5 kernel=lanczos3 | sharpen", "grain | vignette", "resize width=80 height=30 fit=cover",
            ] {
                let all = try Self.frames(worker.render(source, "\(chain) | save format=webp lossless=yes pages=all"))
                #expect(all.count == 4)
                for (number, frame) in zip([0, 1, 2, 3], all) {
                    let still = try VipsPicture(framesOf: source).then {
                        cvips_crop($0, $1, 0, Int32(number * 30), 40, 30)
                    }
                    let png = try still.pixels().file(.png)
                    let alone = try VipsPicture(worker.render(png, "\(chain) | save format=webp lossless=yes"))
                        .bands(0, 3).pixels()
                    #expect(frame.likeness(alone) > 40, "\(chain), frame \(number)")
                }
            }
        }
    }

    @Test("Frames smaller than the picture, and every kind of disposal, look as they do in a browser")
    func disposal() throws {
        let corner = (x: 0, y: 0, width: 20, height: 15)
        let gif = AnimatedGIF(frames: [
            Frame(colour: 50), Frame(colour: 200, disposal: 3, place: corner),
            Frame(colour: 120, disposal: 2, place: (x: 20, y: 15, width: 20, height: 15)),
            Frame(colour: 250, place: corner),
        ])
        let frames = try Self.frames(WorkerProcess().render(gif.file(), "save format=webp lossless=yes pages=all"))
        try #require(frames.count == 4)
        let expected: [[UInt8?]] = [[50, 50], [200, 50], [50, 120], [250, nil]]
        for (frame, colours) in zip(frames, expected) {
            for (pixel, colour) in zip([frame[5, 5], frame[30, 20]], colours) {
                if let colour { #expect(Self.isNear(pixel, AnimatedGIF.colour(colour)), "\(pixel)") }
            }
        }
    }

    @Test("A frame without a duration has none in a GIF, and the browsers' default in a WebP")
    func noTime() throws {
        let worker = try WorkerProcess()
        let gif = AnimatedGIF(loop: nil, frames: [0, 1, 2].map { Frame(colour: UInt8($0) * 100, delay: $0) })
        for (format, delays) in [("gif", [0, 10, 20]), ("webp", [100, 100, 20])] {
            let result = try worker.render(gif.file(), "save format=\(format) pages=all")
            #expect(try Timing(result) == Timing(delays: delays, loop: nil), "\(format)")
        }
    }

    @Test("Equal frames may become one, with the sum of their durations")
    func alike() throws {
        let gif = AnimatedGIF(frames: [10, 200, 200, 60].map { Frame(colour: $0, delay: 20) })
        let worker = try WorkerProcess()
        for format in ["webp", "gif"] {
            let result = try worker.render(gif.file(), "save format=\(format) pages=all")
            #expect(try Timing(result).delays.reduce(0, +) == 800, "\(format)")
        }
    }

    @Test("An animation with one frame or none becomes a still picture")
    func single() throws {
        let worker = try WorkerProcess()
        for format in ["webp", "gif", "same"] {
            let one = AnimatedGIF(frames: [Frame(colour: 90)])
            for source in [try one.file(), try Pixels.colourful(40, 30).file(.png)] {
                #expect(try worker.open(source, "save format=\(format) pages=all").framesTaken == [1])
                #expect(try worker.render(into: TemporaryFile()).map(\.pages) == [1])
            }
        }
    }

    @Test("format=same keeps an animation in its format, and makes a JPEG from a JPEG")
    func same() throws {
        let worker = try WorkerProcess()
        for (source, format) in zip(try Self.sources(), ["gif", "webp"]) {
            _ = try worker.open(source, "noir | save format=same pages=all")
            let told = try worker.render(into: TemporaryFile())
            #expect(told.map(\.format) == [format] && told.map(\.pages) == [3])
        }
        _ = try worker.open(Pixels.colourful(40, 30).file(.jpeg), "save format=same pages=all")
        #expect(try worker.render(into: TemporaryFile()).map(\.format) == ["jpeg"])
    }

    @Test("One render makes animations and still pictures from the same file")
    func severalOutputs() throws {
        let worker = try WorkerProcess()
        for source in try Self.sources() {
            let chains = [
                "resize scale=0.5 | save format=webp pages=all", "save", "noir | save format=gif pages=all",
                "resize width=10 | save format=png",
            ]
            let header = try worker.open(
                [source], chains.map { RenderOutput(name: nil, stages: try worker.chain($0)) })
            #expect(header.framesTaken == [3, 1, 3, 1] && header.pixelsToRead == 40 * 30 * 8)
            let files = try chains.map { _ in try TemporaryFile() }
            let told = try worker.render(into: files[0], files[1], files[2], files[3])
            #expect(told.map(\.pages) == [3, 1, 3, 1] && told.map(\.width) == [20, 40, 40, 10])
        }
    }

    @Test("An animation passes a barrier with all its frames and their durations")
    func barrier() throws {
        for source in try Self.sources() {
            let file = try HandOverTests().cut(source, "resize scale=0.5 | barrier | noir | save format=webp pages=all")
            let whole = try WorkerProcess().render(source, "resize scale=0.5 | noir | save format=webp pages=all")
            #expect(try Timing(file) == Timing(whole) && Timing(file).delays == [50, 120, 1000])
            for (frame, expected) in zip(try Self.frames(file), try Self.frames(whole)) {
                #expect(frame.likeness(expected) > 36)
            }
            let first = try HandOverTests().cut(source, "resize scale=0.5 | barrier | save format=png")
            #expect(try Pixels(first).height == 15)
        }
    }

    @Test("All frames count for MaxPixels, before and after a resize; without pages=all only the first does")
    func maxPixels() throws {
        let worker = try WorkerProcess()
        let (source, all) = (try Self.moving.file(), "save format=webp pages=all")
        let most = Int64(40 * 30 * 3)
        #expect(try worker.open(source, all, maxPixels: most).framesTaken == [3])
        let failure = try #require(throws: WorkerFailure.self) { try worker.open(source, all, maxPixels: most - 1) }
        #expect(failure.message == "3 frames of 40 × 30 are 3600 pixels, more than MaxPixels=3599")
        #expect(failure.advice?.hasPrefix("save the first frame alone (pages=first), or if you trust") == true)
        let larger = try #require(throws: WorkerFailure.self) {
            try worker.open(source, "resize scale=2 | \(all)", maxPixels: most * 4 - 1)
        }
        #expect(larger.message.hasPrefix("it would become 3 frames of 80 × 60: 14400 pixels, more than MaxPixels="))
        #expect(try worker.open(source, "resize scale=2 | \(all)", maxPixels: most * 4).framesTaken == [3])
        #expect(try worker.open(source, "save", maxPixels: 40 * 30).framesTaken == [1])
    }

    @Test("A thousand frames on a large canvas are refused by their header, however small the file is")
    func huge() throws {
        let worker = try WorkerProcess()
        let dot = (x: 0, y: 0, width: 1, height: 1)
        let frames = (0..<1000).map { Frame(colour: UInt8($0 % 256), place: dot) }
        let gif = AnimatedGIF(width: 2000, height: 2000, frames: frames)
        let failure = try worker.failure(gif.file(), "save format=webp pages=all")
        #expect(failure.message.hasPrefix("1000 frames of 2000 × 2000 are 4000000000 pixels"), "\(failure)")
        #expect(try worker.peak < 150 << 20)
    }

    @Test("A thousand small frames are kept, in little memory")
    func many() throws {
        let worker = try WorkerProcess()
        let frames = (0..<1000).map { Frame(colour: UInt8($0 * 83 % 256), delay: 2 + $0 % 3) }
        let source = try AnimatedGIF(width: 10, height: 10, frames: frames).file()
        for format in ["webp", "gif"] {
            let result = try worker.render(source, "noir | resize width=8 | save format=\(format) pages=all")
            #expect(try Timing(result).delays.count > 900)
            #expect(try Timing(result).delays.reduce(0, +) == frames.map { $0.delay * 10 }.reduce(0, +))
        }
        #expect(try worker.peak < 150 << 20)
    }

    @Test("A truncated animation fails; with OnTruncated=accept a GIF keeps its complete frames")
    func truncated() throws {
        let worker = try WorkerProcess()
        let whole = try Self.sources(AnimatedGIF(frames: (0..<10).map { Frame(colour: UInt8($0 * 25)) }))
        for (source, isGIF) in zip(whole, [true, false]) {
            let bytes = try source.bytes
            let cut = try TemporaryFile(Array(bytes.prefix(bytes.count * 6 / 10)))
            let failure = try worker.failure(cut, "save format=webp pages=all")
            #expect(failure.stage == "open" && failure.message.contains("its end is missing"), "\(failure)")
            guard isGIF else { continue }
            let result = try worker.render(cut, "save format=webp pages=all", onTruncated: .accept)
            #expect((5...6).contains(try Timing(result).delays.count))
            #expect(try Self.isNear(Self.frames(result)[4][20, 15], AnimatedGIF.colour(100)))
        }
    }

    @Test("Damage anywhere costs only the animation, and the worker goes on", arguments: [0, 1])
    func damaged(kind: Int) throws {
        let worker = try WorkerProcess()
        let bytes = try Self.sources()[kind].bytes
        var failures = 0
        for at in stride(from: 6, to: bytes.count, by: max(1, bytes.count / 150)) {
            var damaged = bytes
            damaged[at] ^= UInt8(truncatingIfNeeded: 0x55 + at)
            let file = try TemporaryFile(damaged)
            for policy in [TruncatedPolicy.fail, .accept] {
                do {
                    _ = try worker.open(
                        file, "noir | save format=gif pages=all", maxPixels: 1 << 20, onTruncated: policy)
                    _ = try worker.render(into: TemporaryFile())
                } catch is WorkerFailure {
                    failures += 1
                }
            }
        }
        #expect(failures > 0)
        #expect(try worker.render(Self.moving.file(), "save").bytes.count > 0)
    }

    @Test("The metadata of an animated WebP is kept, with the size of a frame, or removed by metadata=strip")
    func metadata() throws {
        let worker = try WorkerProcess()
        let source = try Self.sources()[1]
        try ExifTool.write(["-EXIF:Artist=Jane", "-XMP-photoshop:City=Passau"], into: [source.path])
        let kept = try worker.render(source, "resize scale=0.5 | save format=webp pages=all")
        let bare = try worker.render(source, "resize scale=0.5 | save format=webp pages=all metadata=strip")
        let read = try ExifTool.read([kept.path, bare.path])
        #expect(read[kept.path]?["IFD0:Artist"] == "Jane" && read[kept.path]?["XMP-photoshop:City"] == "Passau")
        #expect(read[kept.path]?["ExifIFD:ExifImageHeight"] ?? "15" == "15")
        #expect(read[bare.path]?.keys.contains { $0.hasPrefix("IFD0") || $0.hasPrefix("XMP") } == false)
        #expect(try Timing(bare).delays == [50, 120, 1000] && Timing(kept) == Timing(bare))
    }

    @Test("max-bytes limits the animation as a whole")
    func maxBytes() throws {
        let worker = try WorkerProcess()
        let pixels = Pixels.mixed(120, 400)
        let strip = try VipsTool.run("webpsave", pixels.file(.png), ["--page-height", "100", "--lossless"])
        let file = try worker.render(strip, "save format=webp pages=all max-bytes=12K")
        #expect(try file.bytes.count <= 12 << 10 && file.bytes.count > 8 << 10)
        #expect(try Timing(file).delays.count == 4)
    }

    @Test("An animation can be cancelled in the middle, and the worker goes on")
    func cancelled() throws {
        let worker = try WorkerProcess()
        let frames = (0..<200).map { Frame(colour: UInt8($0), delay: 4) }
        let source = try AnimatedGIF(width: 400, height: 300, frames: frames).file()
        _ = try worker.open(source, "blur radius=5 | save format=webp pages=all")
        try worker.channel.send(SupervisorMessage.render, descriptors: [TemporaryFile().reopened(O_RDWR)])
        // Wait for a progress message, which shows that the render has begun.
        while true { if case .progress = try worker.message() { break } }
        try worker.channel.send(SupervisorMessage.cancel)
        guard case .cancelled = try worker.answer() else { throw Unexpected("no cancel") }
        #expect(try worker.render(Self.moving.file(), "save format=gif pages=all").bytes.count > 0)
    }

    @Test("Progress covers all frames, and never decreases")
    func progress() throws {
        let worker = try WorkerProcess()
        let frames = (0..<60).map { Frame(colour: UInt8($0 * 83 % 256), delay: 4) }
        let source = try AnimatedGIF(width: 640, height: 480, frames: frames).file()
        _ = try worker.open(source, "autolevels | save format=webp pages=all")
        try worker.channel.send(SupervisorMessage.render, descriptors: [TemporaryFile().reopened(O_RDWR)])
        var told: [Int64] = []
        while true {
            switch try worker.message() {
            case .progress(let done, let total):
                #expect(total == 640 * 480 * 60)
                told.append(done)
                continue
            case .rendered(let outputs): #expect(outputs.map(\.pages) == [60])
            case let other: throw Unexpected("\(other)")
            }
            break
        }
        #expect(told == told.sorted() && told.last.map { $0 <= 640 * 480 * 60 } ?? true)
    }
}
