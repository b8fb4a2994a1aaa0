import Foundation
import PipelineModel
import Testing
import WorkerProtocol

/// Tests filters that crop, turn, frame, mark and stretch.
struct PlaceFilterTests {
    private static let source = Pixels(60, 40) { x, y in [x * 4, y * 6, 100] }

    private static func made(_ chain: String, of source: Pixels = source, resources: String? = nil) throws -> Pixels {
        let worker =
            try resources.map { try WorkerProcess(plugins: [WorkerProcess.programs.path], "--resources", $0) }
            ?? WorkerProcess()
        return try Pixels(worker.render(source.file(.png), "\(chain) | save format=png"))
    }

    @Test(
        "crop takes the requested part",
        arguments: [
            ("ratio=1:1", 10, 0, 40, 40), ("ratio=1:1 position=left", 0, 0, 40, 40),
            ("ratio=3:1 position=bottom", 0, 20, 60, 20), ("ratio=2.5:1", 0, 8, 60, 24),
            ("width=10 height=8 position=top-right", 50, 0, 10, 8), ("width=10", 25, 0, 10, 40),
            ("height=99", 0, 0, 60, 40), ("ratio=2:1 width=20 position=left", 0, 15, 20, 10),
            ("width=10 height=8 position=bottom-left", 0, 32, 10, 8),
        ])
    func crop(arguments: String, left: Int, top: Int, width: Int, height: Int) throws {
        let expected = Pixels(width, height) { Self.source[left + $0, top + $1] }
        #expect(try Self.made("crop \(arguments)") == expected)
    }

    @Test(
        "rotate turns clockwise, and flip mirrors, without changing any pixel",
        arguments: ["rotate", "rotate angle=180", "rotate angle=270", "flip", "flip direction=vertical"])
    func turned(chain: String) throws {
        let source = Self.source
        let isAcross = chain == "rotate" || chain.hasSuffix("270")
        let expected = Pixels(isAcross ? 40 : 60, isAcross ? 60 : 40) { x, y in
            switch chain {
            case "rotate": source[y, 39 - x]
            case "rotate angle=180": source[59 - x, 39 - y]
            case "rotate angle=270": source[59 - y, x]
            case "flip": source[59 - x, y]
            default: source[x, 39 - y]
            }
        }
        #expect(try Self.made(chain) == expected)
    }

    @Test("crop by attention and by entropy keeps the interesting part", arguments: ["attention", "entropy"])
    func attention(position: String) throws {
        let scene = Pixels(300, 80) { x, y in
            (220..<260).contains(x) && (20..<60).contains(y)
                ? [(x * 7 + y * 13) % 2 * 200 + 30, 40, 30] : [120, 125, 130]
        }
        let part = try Self.made("crop ratio=1:1 position=\(position)", of: scene)
        #expect(part.width == 80)
        #expect(part.samples.filter { $0 == 40 }.count > 1200)
    }

    @Test(
        "crop reports a missing value",
        arguments: [
            ("crop ratio=wide", "'wide' is no ratio; write it as 3:2"),
            ("crop ratio=3:0", "no ratio"), ("crop ratio=3:2x", "no ratio"),
        ])
    func complaints(chain: String, message: String) throws {
        let failure = try WorkerProcess().failure(Self.source.file(.png), chain)
        #expect(failure.message.contains(message), "\(failure)")
    }

    @Test(
        "a chain with missing or excess values is refused before any picture, with the position",
        arguments: [
            ("noir | watermark", "'watermark' needs 'text' or 'picture' at column 8"),
            ("watermark text=\"\" colour=#ffffff", "write watermark text=… or picture=…"),
            ("watermark text=a picture=b.png", "'text' and 'picture' of watermark together at column 18; keep one"),
            ("crop position=left", "'crop' needs 'ratio', 'width' or 'height' at column 1"),
            ("crop width=0", "write crop ratio=…, width=… or height=…"),
        ])
    func needs(chain: String, message: String) throws {
        let catalog = StageCatalog(filters: try WorkerProcess().hello.filters)
        let problem = #expect(throws: ChainProblem.self) { try Chain(parsing: chain, catalog: catalog) }
        #expect(problem?.message.contains(message) == true, "\(problem?.message ?? "")")
    }

    @Test("border frames opaquely in its colour, and a grey picture with a grey border stays grey")
    func border() throws {
        func framed(_ source: Pixels, _ colour: [Int]) -> Pixels {
            Pixels(source.width + 6, source.height + 6) { x, y in
                let isInside = (3..<source.width + 3).contains(x) && (3..<source.height + 3).contains(y)
                return isInside ? source[x - 3, y - 3] : colour
            }
        }
        let chain = "border width=3 unit=px colour=#102030"
        #expect(try Self.made(chain) == framed(Self.source, [16, 32, 48]))
        let clear = Pixels(9, 7) { x, y in [x, y, 9, 100] }
        #expect(try Self.made(chain, of: clear) == framed(clear, [16, 32, 48, 255]))
        let grey = Pixels(9, 7) { x, y in [x * y] }
        #expect(try Self.made("border width=3 unit=px colour=#808080", of: grey) == framed(grey, [128]))
        #expect(try Self.made("border width=10", of: grey).width == 11)
        #expect(try Self.made("border width=0") == Self.source)
    }

    @Test("autolevels stretches all bands together, or each separately, to black and white")
    func autolevels() throws {
        // The three bands range from 40 to 139, from 60 to 159 and from 50 to 99. All values of a band occur equally
        // often.
        let flat = Pixels(100, 20) { x, _ in [40 + x, 60 + x, 50 + x / 2] }
        let golden = try Golden(flat, "autolevels clip=0", worker: WorkerProcess())
        #expect(golden.worst { golden[$0, $1].map { ($0 * 255 - 40) / 119 } } <= 0.51)
        let each = try Golden(flat, "autolevels clip=0 balance=yes", worker: WorkerProcess())
        #expect(
            each.worst { x, y in zip(each[x, y], [(40.0, 99.0), (60, 99), (50, 49)]).map { ($0 * 255 - $1.0) / $1.1 } }
                <= 0.51)
        let half = try Golden(flat, "autolevels clip=10 strength=0.5", worker: WorkerProcess())
        // The filter cuts off a tenth of the values at each end, so the remaining values range from 50 to 149.
        #expect(
            half.worst { half[$0, $1].map { mixed($0, min(max(($0 * 255 - 50) / 99, 0), 1), 0.5) } } <= 0.51)
        #expect(try Self.made("autolevels", of: Pixels(9, 9) { _, _ in [77] }).samples.allSatisfy { $0 == 77 })
    }

    @Test("autolevels ignores transparent pixels")
    func transparentLevels() throws {
        let source = Pixels(100, 20) { x, y in y < 10 ? [50 + x, 255] : [x, 0] }
        let result = try Self.made("autolevels clip=0", of: source)
        #expect(result[0, 0] == [0, 255] && result[99, 0] == [255, 255] && result[99, 15][1] == 0)
    }

    @Test("watermark places a picture at its position with its opacity")
    func picture() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/watermark", withIntermediateDirectories: true)
        let logo = try Pixels(20, 10) { x, _ in [255, 0, 0, x < 10 ? 255 : 0] }.file(.png)
        try FileManager.default.copyItem(atPath: logo.path, toPath: folder.path + "/watermark/logo.png")
        let source = Pixels(100, 50) { _, _ in [0, 100, 200] }
        let chain = "watermark picture=logo.png size=20 margin=10 opacity=0.5"
        let result = try Self.made(chain, of: source, resources: folder.path)
        for (x, y) in [(75, 35), (84, 44), (83, 39)] {
            #expect(zip(result[x, y], [127, 50, 100]).allSatisfy { abs($0 - $1) <= 2 }, "\(result[x, y])")
        }
        for (x, y) in [(74, 40), (80, 34), (87, 40), (80, 45)] { #expect(result[x, y] == [0, 100, 200]) }
        let clear = Pixels(100, 50) { _, _ in [0, 100, 200, 0] }
        let over = try Self.made(chain + " position=top-left", of: clear, resources: folder.path)
        #expect(over[8, 8] == [255, 0, 0, 127] && over[50, 25][3] == 0)
    }

    @Test("watermark writes text at its position, legible on any ground")
    func text() throws {
        let chain = "watermark text=\"<Ada & Co>\" size=40 margin=5 opacity=1"
        for ground in [0, 255] {
            let source = Pixels(200, 100) { _, _ in [ground] }
            let result = try Self.made(chain, of: source)
            let marked = (0..<200 * 100).filter { Int(result.samples[$0]) != ground }
            let (xs, ys) = (marked.map { $0 % 200 }, marked.map { $0 / 200 })
            // The shadow of the text extends a little beyond its letters.
            #expect((110...120).contains(xs.min() ?? 0) && (190...199).contains(xs.max() ?? 0))
            #expect((ys.min() ?? 0) > 60 && (ys.max() ?? 0) > 90)
            let darkest = result.samples.min() ?? 0, brightest = result.samples.max() ?? 0
            #expect(brightest == 255 && darkest < 110)
        }
    }

    @Test("watermark reports the path of a missing picture")
    func missing() throws {
        let folder = try TemporaryFolder()
        let source = try Self.source.file(.png)
        let own = folder.path + "/watermark"
        func failure(_ name: String) throws -> WorkerFailure {
            try WorkerProcess(plugins: [WorkerProcess.programs.path], "--resources", folder.path)
                .failure(source, "watermark picture=\(name)")
        }
        #expect(try failure("logo.png").message.contains("make \(own), put it there, then `pipectl reload`"))
        try FileManager.default.createDirectory(atPath: own, withIntermediateDirectories: true)
        #expect(try failure("logo.png").message.contains("there is no picture 'logo.png' in \(own)"))
        #expect(try failure("../logo.png").message.contains("write it without a folder"))
    }
}
