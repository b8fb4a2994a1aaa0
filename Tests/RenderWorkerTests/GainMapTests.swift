import Foundation
import PipelineModel
import Testing
import WorkerProtocol

/// Tests the gain maps of results. HDR renditions are compared in linear light.
struct GainMapTests {
    private func render(
        _ source: TemporaryFile, _ chain: String, by worker: WorkerProcess? = nil
    ) throws -> (output: RenderedOutput, file: TemporaryFile) {
        let worker = try worker ?? WorkerProcess()
        _ = try worker.open(source, chain)
        let file = try TemporaryFile()
        return (try #require(worker.render(into: file).first), file)
    }

    /// Returns the mean distance of two renditions, in binary logarithms of light. `place` maps a position in the
    /// result to a position in the source, both as fractions of the sides. Omits pixels for which `place` returns nil.
    private func distance(
        _ result: HDRRendition, _ source: HDRRendition,
        _ place: (_ x: Double, _ y: Double) -> (x: Double, y: Double)?
    ) -> Double {
        var (sum, count) = (0.0, 0)
        for y in stride(from: 3, to: result.picture.height - 3, by: 4) {
            for x in stride(from: 3, to: result.picture.width - 3, by: 4) {
                let at = place(
                    (Double(x) + 0.5) / Double(result.picture.width), (Double(y) + 0.5) / Double(result.picture.height))
                guard let at else { continue }
                let (u, v) = (Int(at.x * Double(source.picture.width)), Int(at.y * Double(source.picture.height)))
                for channel in 0..<3 {
                    let (made, wanted) = (result.light(x, y, channel), source.light(u, v, channel))
                    // Skip darker pixels, whose logarithms change too much when they are rounded to 8 bits.
                    guard wanted > 0.02 else { continue }
                    sum += abs(log2(max(made, 1e-6) / wanted))
                    count += 1
                }
            }
        }
        return sum / Double(max(1, count))
    }

    // Chains, each with a function that maps a position in the result to a position in the source. The photograph has
    // 400 × 240 pixels.
    private static let moves: [(chain: String, place: @Sendable (Double, Double) -> (x: Double, y: Double)?)] = [
        ("", { ($0, $1) }), ("resize scale=0.5", { ($0, $1) }), ("resize width=301", { ($0, $1) }),
        ("resize scale=0.5 kernel=lanczos3", { ($0, $1) }),
        ("resize scale=1.5", { ($0, $1) }), ("resize width=150 height=150 fit=exact", { ($0, $1) }),
        ("resize width=120 height=120 fit=cover", { (0.2 + 0.6 * $0, $1) }),
        ("flip", { (1 - $0, $1) }), ("flip direction=vertical", { ($0, 1 - $1) }),
        ("rotate angle=90", { ($1, 1 - $0) }), ("rotate angle=180", { (1 - $0, 1 - $1) }),
        ("resize scale=0.5 | rotate angle=270 | flip", { (1 - $1, 1 - $0) }),
        ("crop width=240 position=left", { (0.6 * $0, $1) }),
        ("resize scale=0.5 | crop width=100 height=60 position=bottom-right", { (0.5 + $0 / 2, 0.5 + $1 / 2) }),
        ("crop width=200 position=right | resize scale=0.6 | rotate angle=90", { (0.5 + $1 / 2, 1 - $0) }),
        (
            "border width=40 unit=px",
            { x, y in
                let (u, v) = ((x * 480 - 40) / 400, (y * 320 - 40) / 240)
                return (0.05..<0.95).contains(u) && (0.05..<0.95).contains(v) ? (u, v) : nil
            }
        ),
        (
            "resize scale=0.5 | border width=20 unit=px | resize scale=0.9 | flip",
            { x, y in
                let (u, v) = (((1 - x) * 240 - 20) / 200, (y * 160 - 20) / 120)
                return (0.05..<0.95).contains(u) && (0.05..<0.95).contains(v) ? (u, v) : nil
            }
        ),
    ]

    @Test("The map follows its picture wherever the pixels go", arguments: [false, true])
    func moves(coloured: Bool) throws {
        let channels = [HDRFile.Channel(), HDRFile.Channel(least: 0, most: 1.5, gamma: 1.2), HDRFile.Channel(most: 3)]
        let source = try HDRFile.photograph(coloured: coloured) { if coloured { $0.channels = channels } }
        let (worker, wanted) = (try WorkerProcess(), try HDRRendition(source))
        for (chain, place) in Self.moves {
            let (output, file) = try render(source, "\(chain)\(chain.isEmpty ? "" : " | ")save quality=95", by: worker)
            let made = try HDRRendition(file)
            #expect(output.gainMap == "with gain map \(made.map.width) × \(made.map.height)", "\(chain)")
            #expect(distance(made, wanted, place) < 0.05, "\(chain): \(distance(made, wanted, place))")
            #expect(made.channels == (coloured ? channels : [HDRFile.Channel()]), "\(chain)")
        }
    }

    @Test("The map is turned upright with its picture", arguments: 1...8)
    func orientation(orientation: Int) throws {
        let upright: (Double, Double) -> (x: Double, y: Double) = { x, y in
            switch orientation {
            case 2: (1 - x, y)
            case 3: (1 - x, 1 - y)
            case 4: (x, 1 - y)
            case 5: (y, x)
            case 6: (y, 1 - x)
            case 7: (1 - y, 1 - x)
            case 8: (1 - y, x)
            default: (x, y)
            }
        }
        let source = try HDRFile.photograph(orientation: orientation)
        for chain in ["resize scale=0.5 | save", "resize scale=0.5 kernel=lanczos3 | save", "crop ratio=1:1 | save"] {
            let made = try HDRRendition(render(source, chain).file)
            let wanted = try HDRRendition(source)
            let isTurned = orientation >= 5
            let found = distance(made, wanted) { x, y in
                guard chain.hasPrefix("crop") else { return upright(x, y) }
                // The crop keeps the middle 240 of 400 pixels.
                return isTurned ? upright(x, 0.2 + 0.6 * y) : upright(0.2 + 0.6 * x, y)
            }
            #expect(found < 0.06, "\(chain): \(found)")
        }
    }

    @Test("The map keeps its share of the picture's size, and a small result has a finer one")
    func size() throws {
        let source = try HDRFile.photograph(1600, 1200)
        func size(_ chain: String) throws -> [Int] {
            let made = try HDRRendition(render(source, chain).file)
            return [made.picture.width, made.picture.height, made.map.width, made.map.height]
        }
        #expect(try size("save") == [1600, 1200, 400, 300])
        #expect(try size("resize scale=0.5 | save") == [800, 600, 200, 150])
        #expect(try size("resize width=320 | save") == [320, 240, 171, 128])
        #expect(try size("resize width=100 | save") == [100, 75, 100, 75])
        // A result's gain map has no more samples than the source's map for the same part of the picture, because the
        // worker does not enlarge a gain map.
        #expect(try size("resize scale=2 | save") == [3200, 2400, 400, 300])
        #expect(try size("crop width=160 height=120 | save") == [160, 120, 40, 30])
    }

    @Test("A file of any form gives a file that both kinds of readers understand", arguments: HDRFile.Form.allCases)
    func forms(form: HDRFile.Form) throws {
        let source = try HDRFile.photograph { file in
            file.form = form
            // These attributes contain the headroom, so the maker's notes are not needed.
            file.appleProperties = "HDRGainMap:HDRGainMapHeadroom='3.5' xmlns:p='p' p:City='Passau'"
        }
        let (output, file) = try render(source, "resize scale=0.5 | save")
        let bytes = try file.bytes
        let map = try HDRRendition.map(in: bytes)
        let main = bytes.dropLast(map.count)
        // The result is so small that its gain map keeps all samples of the source's gain map.
        #expect(output.gainMap == "with gain map 100 × 60")
        func has(_ text: String, _ part: some Collection<UInt8>) -> Bool {
            String(decoding: part, as: UTF8.self).contains(text)
        }
        guard form != .apple else {
            #expect(!has("Passau", map))
            #expect(has("urn:com:apple:photo:2020:aux:hdrgainmap", map) && !has("hdrgm", bytes) && !has("21496", bytes))
            return
        }
        #expect(has("hdrgm:Version=\"1.0\"", main) && has("Item:Length=\"\(map.count)\"", main))
        let announced = HDRFile.segment(0xe2, HDRFile.urn + [0, 0, 0, 0])
        #expect(main.firstRange(of: announced) != nil)
        // If the source has only XMP, the worker writes the same numbers as different fractions, so compare no numbers.
        let iso = try HDRFile(file).iso
        #expect(map.firstRange(of: form == .ultraHDR ? HDRFile.urn : HDRFile.segment(0xe2, HDRFile.urn + iso)) != nil)
    }

    @Test("A map of Apple's form whose headroom is in the maker's notes needs them")
    func makersNotes() throws {
        let source = try HDRFile.photograph { $0.form = .apple }
        #expect(try render(source, "save").output.gainMap == "with gain map 100 × 60")
        for policy in ["strip", "copyright", "keep-without-place"] {
            #expect(
                try render(source, "save metadata=\(policy)").output.gainMap
                    == "without gain map: its headroom is in the maker's notes, which metadata= leaves out")
        }
    }

    @Test("metadata=strip keeps the map, and nothing else of the metadata")
    func stripped() throws {
        let source = try HDRFile.photograph {
            $0.otherXMP = "<rdf:Description xmlns:dc='http://purl.org/dc/elements/1.1/' dc:secret='Passau'/>"
        }
        for chain in ["resize scale=0.5 |", "resize scale=0.5 kernel=lanczos3 |"] {
            let (output, file) = try render(source, "\(chain) save metadata=strip")
            let text = String(decoding: try file.bytes, as: UTF8.self)
            #expect(output.gainMap?.hasPrefix("with gain map") == true && !text.contains("Passau"))
            #expect(text.contains("hdrgm:Version"))
            let kept = try String(decoding: render(source, "\(chain) save").file.bytes, as: UTF8.self)
            #expect(kept.contains("dc:secret='Passau'") && kept.contains("hdrgm:Version=\"1.0\""))
        }
    }

    @Test("A map of luma goes with a picture without colours", arguments: ["noir", "mono"], ["", " kernel=lanczos3"])
    func luma(filter: String, kernel: String) throws {
        for coloured in [true, false] { try luma("resize scale=0.5\(kernel) | \(filter) | save", coloured: coloured) }
    }

    private func luma(_ chain: String, coloured: Bool) throws {
        let channels = [HDRFile.Channel(), HDRFile.Channel(least: 0, most: 1.5, gamma: 1.2), HDRFile.Channel(most: 3)]
        let source = try HDRFile.photograph(coloured: coloured) { $0.channels = channels }
        let (output, file) = try render(source, chain)
        let (made, wanted) = (try HDRRendition(file), try HDRRendition(source))
        #expect(output.gainMap?.hasPrefix("with gain map") == true)
        // libultrahdr can't read the gain map of a picture with one component, so the worker writes three equal
        // components.
        #expect(output.bands == 3 && made.picture.bands == 3 && made.map.bands == 1 && made.channels.count == 1)
        #expect([(20, 20), (100, 60)].allSatisfy { Set(made.picture[$0.0, $0.1]).count == 1 })
        for (x, y) in [(20, 20), (100, 60), (180, 100), (150, 30)] {
            let mean = zip(0..<3, [0.299, 0.587, 0.114]).map { wanted.gain(2 * x, 2 * y, $0) * $1 }.reduce(0, +)
            #expect(abs(made.gain(x, y, 0) - mean) < 0.06, "\(made.gain(x, y, 0)), not \(mean)")
        }
    }

    @Test("A part of a picture that has less than a sample of the map has one sample", arguments: [false, true])
    func leastPart(coloured: Bool) throws {
        let map = try HDRFile.gains(10, 6, coloured: coloured).file(.jpeg, strip: true)
        let source = try HDRFile(map).file(of: Pixels.colourful(400, 240))
        for chain in ["crop width=20 height=10 | save", "crop width=1 height=1 | save", "resize width=1 | save"] {
            let (output, file) = try render(source, chain)
            let made = try HDRRendition(file)
            #expect(output.gainMap == "with gain map \(made.map.width) × \(made.map.height)", "\(chain)")
            #expect(made.map.width == 1 && made.map.height == 1, "\(chain)")
        }
    }

    @Test("A frame around the picture does not shine", arguments: [false, true])
    func frame(coloured: Bool) throws {
        let channels = [HDRFile.Channel(), HDRFile.Channel(least: 0, most: 1.5, gamma: 1.2), HDRFile.Channel(most: 3)]
        let source = try HDRFile.photograph(coloured: coloured) { if coloured { $0.channels = channels } }
        let made = try HDRRendition(render(source, "border width=40 unit=px colour=#ffffff | save").file)
        for channel in 0..<(coloured ? 3 : 1) {
            for (x, y) in [(5, 5), (470, 310), (240, 10)] {
                #expect(abs(made.gain(x, y, channel)) < 0.1, "\(made.gain(x, y, channel))")
            }
        }
    }

    @Test(
        "A filter whose result the map does not fit, and a format without maps, lose the map, and say so",
        arguments: [
            ("sepia | save", "it does not match the result of sepia"),
            ("blur | save", "it does not match the result of blur"),
            ("crop ratio=1:1 position=attention | save", "crop chooses its part by the picture's content"),
            ("save format=webp", "webp can't hold it"), ("save format=png", "png can't hold it"),
            ("save format=avif", "avif can't hold it"),
            ("save max-bytes=3K", "it would take more than a quarter of max-bytes="),
        ])
    func lost(chain: String, reason: String) throws {
        let (source, worker) = (try HDRFile.photograph(), try WorkerProcess())
        let (output, file) = try render(source, "resize width=200 | \(chain)", by: worker)
        #expect(output.gainMap == "without gain map: \(reason)")
        let text = String(decoding: try file.bytes, as: UTF8.self)
        #expect(["hdrgm", "21496", "MPF\0", "Container:"].allSatisfy { !text.contains($0) })
        let isPlanned = !chain.contains("max-bytes")
        #expect(
            try worker.open(source, "resize width=200 | \(chain)").gainMapPlans
                == [isPlanned ? "gain map lost: \(reason)" : "gain map kept"])
        guard chain.hasSuffix("save") || chain.contains("max") else { return }
        let failure = try worker.failure(source, "resize width=200 | \(chain) hdr=require")
        #expect(failure.stage == "save" && failure.message.contains("hdr=require") && failure.message.contains(reason))
    }

    @Test("hdr=drop leaves the map out without a word, and hdr=require takes pictures without a map")
    func choice() throws {
        let (source, worker) = (try HDRFile.photograph(), try WorkerProcess())
        let (output, file) = try render(source, "save hdr=drop", by: worker)
        #expect(output.gainMap == nil && output.dropped == nil)
        #expect(try !String(decoding: file.bytes, as: UTF8.self).contains("hdrgm"))
        #expect(try render(source, "save hdr=require", by: worker).output.gainMap == "with gain map 100 × 60")
        let plain = try Pixels.colourful(64, 48).file(.jpeg)
        #expect(try render(plain, "save hdr=require", by: worker).output.gainMap == nil)
        #expect(try worker.open(plain, "save").gainMap == nil)
        #expect(try worker.open(source, "save").gainMap == "gain map 100 × 60")
    }

    @Test("max-bytes= counts the map as well")
    func fits() throws {
        let (output, file) = try render(HDRFile.photograph(), "save max-bytes=16K")
        #expect(output.gainMap == "with gain map 100 × 60")
        #expect(try file.bytes.count <= 16 << 10 && output.bytes == Int64(file.bytes.count))
        #expect(try HDRRendition(file).map.width == 100)
    }

    @Test("Several results share one decoding of the map")
    func several() throws {
        let (source, worker) = (try HDRFile.photograph(), try WorkerProcess())
        let chains = ["save", "resize scale=0.5 | noir | save", "resize scale=0.25 | save format=webp", "flip | save"]
        let outputs = try chains.map { RenderOutput(name: nil, stages: try worker.chain($0)) }
        _ = try worker.open([source], outputs)
        let files = try chains.map { _ in try TemporaryFile() }
        let made = try worker.render(into: files)
        #expect(made.map { $0.gainMap?.hasPrefix("with gain map") } == [true, true, false, true])
        let wanted = try HDRRendition(source)
        #expect(try distance(HDRRendition(files[3]), wanted) { (1 - $0, $1) } < 0.05)
    }

    @Test("A picture in Display P3 keeps its map, in sRGB and in its own colours", arguments: ["srgb", "keep"])
    func profile(policy: String) throws {
        let pixels = Pixels.colourful(400, 240)
        let p3 = try pixels.file(.jpeg) { try $0.transformed(from: "srgb", to: "p3") }
        let file = try HDRFile(HDRFile.gains(100, 60).file(.jpeg, strip: true))
        let source = try TemporaryFile(file.whole(p3.bytes))
        let (output, made) = try render(source, "resize scale=0.5 | save profile=\(policy)")
        #expect(output.gainMap == "with gain map 100 × 60")
        let wanted = try HDRRendition(HDRFile.photograph())
        // Decoding Display P3 as sRGB would change colours by far more.
        if policy == "srgb" { #expect(try distance(HDRRendition(made), wanted) { ($0, $1) } < 0.06) }
    }

    // MARK: - Hostile files

    enum Damage: String, CaseIterable {
        case truncated, noise, larger, hugeHeader, notNumbers, zeroFraction
        case claimsMore, claimsLess, claimsNothing, noIndex
    }

    private static func damaged(_ damage: Damage) throws -> TemporaryFile {
        func photograph(_ change: (inout HDRFile) -> Void) throws -> TemporaryFile {
            try HDRFile.photograph(400, 240, change)
        }
        switch damage {
        case .truncated: return try photograph { $0.map = Array($0.map.dropLast($0.map.count / 2)) }
        case .noise:
            return try photograph { for at in 700..<$0.map.count { $0.map[at] = UInt8(at * 7 & 127) } }
        case .larger:
            var file = try HDRFile(HDRFile.gains(404, 240).file(.jpeg, strip: true))
            file.form = .both
            return try file.file(of: Pixels.colourful(400, 240))
        case .claimsMore: return try photograph { $0.claimedLength = 1 << 30 }
        case .claimsLess: return try photograph { $0.claimedLength = 600 }
        case .claimsNothing: return try photograph { $0.claimedLength = 0 }
        case .noIndex: return try photograph { $0.hasIndex = false }
        case .hugeHeader:
            return try photograph { file in
                let frame = file.map.indices.first { file.map[$0...].starts(with: [0xff, 0xc0]) } ?? 0
                for at in frame + 5..<frame + 9 { file.map[at] = 0xff }
            }
        case .notNumbers:
            return try photograph {
                $0.form = .ultraHDR
                $0.channels[0].gamma = .nan
            }
        case .zeroFraction:
            let bytes = try photograph { $0.form = .iso }.bytes
            let at = try #require(bytes.lastRange(of: HDRFile.urn))
            return try TemporaryFile(
                bytes[..<(at.upperBound + 9)] + [0, 0, 0, 0] + bytes[(at.upperBound + 13)...])
        }
    }

    @Test("A map that can't be read costs the result its map, and the picture stays", arguments: Damage.allCases)
    func damage(damage: Damage) throws {
        let (source, worker) = (try Self.damaged(damage), try WorkerProcess())
        let header = try worker.open(source, "resize scale=0.5 | save")
        worker.limitMemory(UInt64(PictureHeader.memoryLimit(header.memory)))
        let file = try TemporaryFile()
        let output = try #require(worker.render(into: file).first)
        // With these kinds of damage, the map can still be found directly after the end of the main picture.
        let isFound = [.claimsMore, .claimsLess, .claimsNothing, .noIndex].contains(damage)
        #expect(output.gainMap?.hasPrefix(isFound ? "with gain map" : "without gain map: ") == true, "\(output)")
        let wanted = try Pixels(worker.render(Pixels.colourful(400, 240).file(.jpeg), "resize scale=0.5 | save"))
        #expect(try Pixels(file).likeness(wanted) > 45)
        guard !isFound else { return }
        let text = String(decoding: try file.bytes, as: UTF8.self)
        #expect(["hdrgm", "21496", "MPF\0", "Container:"].allSatisfy { !text.contains($0) })
        #expect(try worker.failure(source, "save hdr=require").message.contains("hdr=require"))
    }
}

extension [UInt8] {
    fileprivate func lastRange(of part: [UInt8]) -> Range<Int>? {
        indices.last { self[$0...].starts(with: part) }.map { $0..<$0 + part.count }
    }
}
