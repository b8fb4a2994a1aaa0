import Foundation
import Testing

/// Compares filters that depend on a pixel's neighbours or position with their formulas.
struct SpaceFilterTests {
    /// A picture with edges in every direction and soft colours.
    private static let edges = Pixels(160, 120) { x, y in
        let inside = (x - 80) * (x - 80) + (y - 60) * (y - 60) < 40 * 40
        return [inside ? 220 : 40, x < 50 ? 30 : 200, (x + y) * 255 / 280]
    }

    /// The expected Gaussian blur, weighted by alpha if there is any. Outside the picture, the edge pixels are
    /// repeated.
    private static func blurred(_ golden: Golden, _ sigma: Double) -> [[Double]] {
        let (width, height, bands) = (golden.source.width, golden.source.height, golden.source.bands)
        let reach = Int(4 * sigma) + 1
        let kernel = (-reach...reach).map { exp(-Double($0 * $0) / (2 * sigma * sigma)) }
        let total = kernel.reduce(0, +)
        func plain(_ pixel: [Double]) -> [Double] {
            bands % 2 == 1 ? pixel : pixel.dropLast().map { $0 * pixel[bands - 1] } + [pixel[bands - 1]]
        }
        func sum(_ at: (Int) -> [Double]) -> [Double] {
            var sum = [Double](repeating: 0, count: bands)
            for (index, weight) in kernel.enumerated() {
                for (band, value) in at(index - reach).enumerated() { sum[band] += value * weight / total }
            }
            return sum
        }
        let across = (0..<height).map { y in (0..<width).map { x in sum { plain(golden[x + $0, y]) } } }
        return (0..<width * height).map { index in
            let soft = sum { across[min(max(index / width + $0, 0), height - 1)][index % width] }
            guard bands % 2 == 0, let alpha = soft.last, alpha > 0 else { return soft }
            return soft.dropLast().map { $0 / alpha } + [alpha]
        }
    }

    /// A wide blur is computed from a reduced picture, so it is a little less accurate.
    @Test(
        "blur is a Gaussian, narrow or wide",
        arguments: [(1.0, 2.0, 58.0), (3, 2, 58), (5.9, 2, 58), (6, 10, 43), (12, 10, 43)])
    func blur(sigma: Double, tolerance: Double, decibels: Double) throws {
        let golden = try Golden(Self.edges, "blur radius=\(sigma) unit=px", worker: WorkerProcess())
        let expected = Self.blurred(golden, sigma)
        #expect(golden.worst { expected[$1 * 160 + $0] } <= tolerance)
        #expect(golden.likeness { expected[$1 * 160 + $0] } >= decibels)
    }

    @Test("blur does not spread the colour of transparent pixels, in 16 bits either")
    func transparent() throws {
        let source = Pixels(60, 40) { x, _ in x < 30 ? [50000, 1000, 1000, 65535] : [0, 65535, 65535, 0] }
        let golden = try Golden(source, "blur radius=3 unit=px", is16Bit: true, worker: WorkerProcess())
        let expected = Self.blurred(golden, 3)
        // Where the picture is almost transparent, alpha has too few steps to determine the colour.
        #expect(
            golden.worst { $0 < 34 ? expected[$1 * 60 + $0] : golden.result[$0, $1].map { Double($0) / 65535 } } <= 1000
        )
        #expect(golden.result[34, 20][1] < 1500)
    }

    @Test("An area of one colour stays unchanged", arguments: [0.5, 1, 2, 5, 7.5, 12])
    func even(sigma: Double) throws {
        let ground = Pixels(90, 70) { _, _ in [200, 90, 3] }
        let golden = try Golden(ground, "blur radius=\(sigma) unit=px", worker: WorkerProcess())
        #expect(golden.result == ground)
    }

    @Test("A radius in % refers to the short side, so that the look does not depend on the size")
    func percent() throws {
        let worker = try WorkerProcess()
        let percent = try worker.render(Self.edges.file(.png), "blur radius=2.5 | save format=png")
        let pixels = try worker.render(Self.edges.file(.png), "blur radius=3 unit=px | save format=png")
        #expect(try Pixels(percent) == Pixels(pixels))
    }

    @Test("sharpen adds the difference between luma and its blur, beyond the threshold", arguments: [0.0, 4])
    func sharpen(threshold: Double) throws {
        let golden = try Golden(
            Self.edges, "sharpen amount=0.5 radius=2 threshold=\(threshold)", worker: WorkerProcess())
        let soft = Self.blurred(golden, 2)
        let worst = golden.worst { x, y in
            let difference = luma(golden[x, y]) - luma(soft[y * 160 + x])
            let rest = max(0, abs(difference) - threshold / 100) * (difference < 0 ? -1 : 1)
            return golden[x, y].map { $0 + 0.5 * rest }
        }
        #expect(worst <= 1.5)
    }

    @Test("vignette darkens by the distance to the corners", arguments: [(0.5, 0.3), (1, 0)])
    func vignette(strength: Double, radius: Double) throws {
        let golden = try Golden(
            Self.edges, "vignette strength=\(strength) radius=\(radius)", worker: WorkerProcess())
        let worst = golden.worst { x, y in
            let (across, down) = ((Double(x) + 0.5) / 80 - 1, (Double(y) + 0.5) / 60 - 1)
            let t = max(0, (sqrt((across * across + down * down) / 2) - radius) / (1 - radius))
            return golden[x, y].map { $0 * (1 - strength * t * t * (3 - 2 * t)) }
        }
        #expect(worst <= 0.6)
    }

    @Test("tilt-shift leaves its band unchanged, and blurs the rest")
    func tiltShift() throws {
        let golden = try Golden(Self.edges, "tilt-shift position=0.4 width=0.2 blur=2.5", worker: WorkerProcess())
        let soft = Self.blurred(golden, 3)
        let worst = golden.worst { x, y in
            let t = min(max(0, (abs((Double(y) + 0.5) / 120 - 0.4) - 0.1) / 0.1), 1)
            return zip(golden[x, y], soft[y * 160 + x]).map { mixed($0, $1, t * t * (3 - 2 * t)) }
        }
        #expect(worst <= 1.5)
        #expect((40..<56).allSatisfy { golden.result[77, $0] == golden.source[77, $0] })
    }

    @Test("grain has its strength, an average of zero, repeats itself, and changes with the seed")
    func grain() throws {
        let worker = try WorkerProcess()
        let grey = Pixels(200, 150) { _, _ in [128, 128, 128] }
        func made(_ chain: String) throws -> Pixels {
            try Pixels(worker.render(grey.file(.png), "\(chain) | save format=png"))
        }
        for size in [0.5, 1.5, 4] {
            let grainy = try made("grain amount=0.1 size=\(size)")
            let values = stride(from: 0, to: grainy.samples.count, by: 3).map { Double(grainy.samples[$0]) }
            let mean = values.reduce(0, +) / Double(values.count)
            let deviation = sqrt(values.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(values.count))
            #expect(abs(mean - 128) < 2 && abs(deviation - 25.5) < 2, "size \(size): \(mean), \(deviation)")
        }
        #expect(try made("grain") == made("grain"))
        #expect(try made("grain") != made("grain seed=2"))
        #expect(try made("grain amount=0") == grey)
        let ends = try Pixels(
            worker.render(
                Pixels(40, 40) { x, _ in [x < 20 ? 0 : 255] }.file(.png), "grain amount=1 | save format=png"))
        #expect(ends.samples.allSatisfy { $0 == 0 || $0 == 255 })
    }
}
