import CVips
import Glibc
import Testing
import WorkerProtocol

/// Renders WebPs and JPEGs to either format, with samples that remain separate planes from the decoder to the encoder.
/// Compares the results with those of libvips' plain path. A chain that names a resize kernel always takes the plain
/// path.
struct PlanesBetweenFormatsTests {
    struct Ways: CustomTestStringConvertible {
        var from: Pixels.Format
        var to: String

        var testDescription: String { "\(from) to \(to)" }
        var save: String { "save format=\(to) quality=100" }
    }

    static let ways = [
        Ways(from: .webp, to: "webp"), Ways(from: .webp, to: "jpeg"), Ways(from: .jpeg, to: "webp"),
    ]

    private func file(
        _ format: Pixels.Format, _ pixels: Pixels, orientation: Int = 1, quality: Int32 = 98
    ) throws -> TemporaryFile {
        try pixels.file(format, quality: quality) {
            if orientation > 1 { $0.set("orientation", orientation) }
            return $0
        }
    }

    /// Returns the results of both paths. The quality is 100, so that the encoders lose little.
    private func results(
        _ worker: WorkerProcess, _ source: TemporaryFile, _ ways: Ways, _ size: String, _ filters: String = ""
    ) throws -> (planes: Pixels, plain: Pixels) {
        let planes = (size.isEmpty ? "" : "resize \(size) | ") + filters + ways.save
        let plain = "resize \(size.isEmpty ? "scale=1" : size) kernel=lanczos3 | " + filters + ways.save
        let path = try worker.open(source, planes).decoderPaths[0]
        #expect(path.hasPrefix(filters.isEmpty ? "\(ways.from), planes, " : "\(ways.from), greyscale, "), "\(path)")
        return try (Pixels(worker.render(source, planes)), Pixels(worker.render(source, plain)))
    }

    @Test("Planes are as close to the picture as the plain path, at any size", arguments: ways)
    func likeness(ways: Ways) throws {
        let worker = try WorkerProcess()
        for (width, height) in [(600, 400), (601, 403)] {
            let source = try file(ways.from, .colourful(width, height))
            for size in ["", "scale=0.5", "scale=0.25", "width=150", "width=80 height=45 fit=cover", "scale=0.37"] {
                let (planes, plain) = try results(worker, source, ways, size)
                let (colours, luma) = (planes.likeness(plain), planes.luma.likeness(plain.luma))
                #expect(colours >= 38 && luma >= 40, "\(width) × \(height), \(size): \(colours), \(luma)")
            }
        }
        let (planes, plain) = try results(worker, file(ways.from, .colourful(200, 150)), ways, "scale=1.7")
        #expect(planes.likeness(plain) >= 38, "\(planes.likeness(plain))")
    }

    @Test("Colours stay aligned with luma: an edge of colours stays in place", arguments: ways)
    func place(ways: Ways) throws {
        let worker = try WorkerProcess()
        let source = try file(
            ways.from, Pixels(403, 301) { x, y in (x < 201) != (y < 151) ? [190, 60, 60] : [70, 200, 220] })
        for size in ["", "scale=0.5", "scale=0.25", "width=133", "width=121 height=81 fit=cover"] {
            let (planes, plain) = try results(worker, source, ways, size)
            let across = [planes, plain].map { $0.shift(inRow: plain.height / 4) }
            let down = [planes.turned, plain.turned].map { $0.shift(inRow: plain.width / 4) }
            #expect(abs(across[0] - across[1]) < 0.1, "\(size): \(across)")
            #expect(abs(down[0] - down[1]) < 0.1, "\(size): \(down)")
        }
    }

    @Test("One or two luma filters give the same result as by the plain path", arguments: ways)
    func luma(ways: Ways) throws {
        let worker = try WorkerProcess()
        let source = try file(ways.from, .colourful(301, 203))
        for filters in ["noir | ", "noir contrast=1.5 | ", "noir | instant | "] {
            for size in ["", "scale=0.5", "width=90 height=51 fit=cover"] {
                let (planes, plain) = try results(worker, source, ways, size, filters)
                #expect(planes.bands == plain.bands)
                #expect(planes.likeness(plain) >= 40, "\(filters)\(size): \(planes.likeness(plain))")
            }
        }
    }

    @Test("A grey JPEG becomes a grey WebP")
    func grey() throws {
        let worker = try WorkerProcess()
        let source = try Pixels.colourful(201, 103).luma.file(.jpeg, quality: 98)
        for chain in ["", "resize scale=0.5 | ", "resize width=77 | "] {
            #expect(try worker.open(source, chain + "save format=webp").decoderPaths[0].contains("greyscale"))
            let kernel = chain.isEmpty ? "resize scale=1 kernel=lanczos3 | " : ""
            let plain = kernel + chain.replacing(" | ", with: " kernel=lanczos3 | ")
            let results = try [chain, plain].map {
                try Pixels(worker.render(source, $0 + "save format=webp quality=100"))
            }
            #expect(results[0].likeness(results[1]) >= 40, "\(chain): \(results[0].likeness(results[1]))")
            // libwebp's decoder rounds its intermediate values, so even grey may be slightly coloured.
            let colour = results[0].map { [($0.max() ?? 0) - ($0.min() ?? 0)] }.samples.max()
            #expect(colour.map { $0 <= 1 } ?? false, "\(chain)")
        }
    }

    @Test(
        "Several results of one decoding each equal the plain path's, for every orientation", arguments: 1...8,
        [Pixels.Format.jpeg, .webp])
    func several(orientation: Int, format: Pixels.Format) throws {
        let worker = try WorkerProcess()
        // With odd sides, the colour samples of a mirrored picture begin beyond its edge.
        let source = try file(format, .colourful(241, 163), orientation: orientation)
        let chains = [
            ["resize scale=0.9", "save format=webp quality=100"], ["resize width=101", "save quality=100"],
            ["resize width=101", "noir", "save quality=85"], ["resize scale=0.2", "save format=webp quality=100"],
            ["resize width=41 height=33 fit=cover", "noir", "save format=webp quality=100"],
        ]
        let paths = try worker.open(
            [source], chains.map { RenderOutput(name: nil, stages: try worker.chain($0.joined(separator: " | "))) }
        )
        .decoderPaths
        #expect(paths.allSatisfy { $0.hasPrefix("\(format), planes, whole, once for 5 outputs") }, "\(paths)")
        let results = try worker.render(source, chains.map { $0.joined(separator: " | ") })
        for (chain, result) in zip(chains, results) {
            let plain = ([chain[0] + " kernel=lanczos3"] + chain.dropFirst()).joined(separator: " | ")
            let likeness = try Pixels(result).likeness(Pixels(worker.render(source, plain)))
            #expect(likeness >= 34, "\(chain): \(likeness)")
        }
    }

    @Test("Tiny and narrow pictures, and results of one pixel, can be made", arguments: ways)
    func narrow(ways: Ways) throws {
        let worker = try WorkerProcess()
        for (width, height) in [(1, 1), (2, 1), (1, 3), (7, 5), (17, 1), (1, 401), (16383, 1), (3, 16383)] {
            let source = try file(ways.from, Pixels(width, height) { _, _ in [200, 100, 50] })
            let enlarging = width * height < 100 ? ["scale=3"] : []
            for size in ["", "scale=0.5", "width=1 height=1 fit=exact", "width=5 height=7 fit=cover"] + enlarging {
                let planes = try Pixels(worker.render(source, (size.isEmpty ? "" : "resize \(size) | ") + ways.save))
                let distance = planes.samples.indices.map { abs(Int(planes.samples[$0]) - [200, 100, 50][$0 % 3]) }
                    .max()
                #expect(distance.map { $0 < 8 } ?? false, "\(width) × \(height), \(size): \(distance ?? -1)")
            }
        }
    }
}
