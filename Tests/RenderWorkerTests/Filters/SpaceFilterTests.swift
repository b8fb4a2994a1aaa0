import Foundation
import Testing

/// Compares filters that depend on a pixel's neighbours or position with their formulas.
struct SpaceFilterTests {
    /// A picture with edges in every direction and soft colours.
    private static let edges = Pixels(160, 120) { x, y in
        let inside = (x - 80) * (x - 80) + (y - 60) * (y - 60) < 40 * 40
        return [inside ? 220 : 40, x < 50 ? 30 : 200, (x + y) * 255 / 280]
    }

    /// Returns the expected Gaussian blur, weighted by alpha if there is any. Outside the picture, the edge pixels are
    /// repeated.
    private static func blurred(
        _ golden: Golden, _ sigma: Double, of change: ([Double]) -> [Double] = { $0 }
    ) -> [[Double]] {
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
        let across = (0..<height).map { y in (0..<width).map { x in sum { plain(change(golden[x + $0, y])) } } }
        return (0..<width * height).map { index in
            let soft = sum { across[min(max(index / width + $0, 0), height - 1)][index % width] }
            guard bands % 2 == 0, let alpha = soft.last, alpha > 0 else { return soft }
            return soft.dropLast().map { $0 / alpha } + [alpha]
        }
    }

    /// Returns approximately the linear light of gamma-encoded values.
    private func light(_ colours: [Double]) -> [Double] { colours.map { $0 * $0 } }

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

    @Test("tilt-shift leaves its band unchanged, and blurs the light beyond it more and more", arguments: [0.0, 30])
    func tiltShift(angle: Double) throws {
        let chain = "tilt-shift position=0.4 width=0.2 blur=2.5 angle=\(angle)"
        let golden = try Golden(Self.edges, chain, worker: WorkerProcess())
        let (narrow, wide) = (Self.blurred(golden, 1, of: light), Self.blurred(golden, 3, of: light))
        func away(_ x: Int, _ y: Int) -> Double {
            let radians = angle * .pi / 180
            return abs(cos(radians) * (Double(y) + 0.5 - 48) - sin(radians) * (Double(x) + 0.5 - 80)) / 120
        }
        let worst = golden.worst { x, y in
            let t = min(max(0, (away(x, y) - 0.1) / 0.1), 1), step = 2 * t * t * (3 - 2 * t)
            let soft = zip(narrow[y * 160 + x], wide[y * 160 + x]).map { mixed($0, $1, max(0, step - 1)) }
            return zip(light(golden[x, y]), soft).map { mixed($0, $1, min(1, step)).squareRoot() }
        }
        #expect(worst <= 3)
        let band = (0..<160 * 120).filter { away($0 % 160, $0 / 160) <= 0.1 }
        #expect(band.count > 3000)
        #expect(band.allSatisfy { golden.result[$0 % 160, $0 / 160] == golden.source[$0 % 160, $0 / 160] })
    }

    @Test("tilt-shift puts no dark shadow beside a dark edge")
    func halos() throws {
        let tower = Pixels(300, 200) { x, _ in (120..<180).contains(x) ? [20, 20, 20] : [230, 230, 230] }
        let golden = try Golden(tower, "tilt-shift position=0.5 width=0.2 blur=2", worker: WorkerProcess())
        // In the first half of the transition the blur is narrow. There, the tower must not darken the sky at a
        // distance of six pixels.
        let rows = (0..<200).filter { abs(Double($0) + 0.5 - 100) / 200 < 0.148 }
        #expect(rows.count > 50 && rows.allSatisfy { golden.result[113, $0][0] >= 228 })
    }

    @Test("straighten turns about the middle, clockwise, and leaves even areas and straight lines as they are")
    func straighten() throws {
        let worker = try WorkerProcess()
        let even = Pixels(90, 60) { _, _ in [200, 90, 3] }
        let result = try Golden(even, "straighten angle=11.5", worker: worker).result
        #expect(result.samples.count > 40 * 30 * 3)
        #expect(result == Pixels(result.width, result.height) { _, _ in [200, 90, 3] })
        // A ramp is a linear function, which cubic interpolation reproduces exactly.
        let ramp = Pixels(120, 80) { x, y in [(30 + x) * 200 + y * 100] }
        let turned = try Golden(ramp, "straighten angle=5", is16Bit: true, worker: worker)
        let (width, height) = (Double(turned.result.width), Double(turned.result.height))
        let (across, down) = (cos(5 * Double.pi / 180), sin(5 * Double.pi / 180))
        let worst = turned.worst { x, y in
            let (right, below) = (Double(x) + 0.5 - width / 2, Double(y) + 0.5 - height / 2)
            let place = (across * right + down * below + 59.5, across * below - down * right + 39.5)
            // Near the edge, interpolation uses repeated edge pixels, so those results are not compared.
            guard (2..<117).contains(place.0), (2..<77).contains(place.1) else {
                return turned.result[x, y].map { Double($0) / 65535 }
            }
            return [(30 + place.0 + place.1 / 2) * 200 / 65535]
        }
        #expect(worst <= 1.5)
        #expect(try Golden(Self.edges, "straighten angle=0", worker: worker).result == Self.edges)
    }

    @Test("straighten gives transparent pixels no weight")
    func straightenTransparent() throws {
        let source = Pixels(60, 40) { x, _ in x < 30 ? [200, 10, 10, 255] : [0, 255, 255, 0] }
        let result = try Golden(source, "straighten angle=20", worker: WorkerProcess()).result
        let seen = (0..<result.width * result.height).map { result[$0 % result.width, $0 / result.width] }
        #expect(seen.contains { $0[3] > 20 && $0[3] < 235 })
        #expect(seen.allSatisfy { $0[3] < 20 || abs($0[0] - 200) <= 12 && $0[1] <= 22 })
    }

    @Test("grain's size follows the picture's, and grains smaller than a pixel become weaker")
    func grainSize() throws {
        let worker = try WorkerProcess()
        func deviation(_ side: Int, _ chain: String) throws -> Double {
            let grey = Pixels(side, side) { _, _ in [128] }
            let values = try Pixels(worker.render(grey.file(.png), "\(chain) | save format=png")).samples
            return sqrt(values.map { pow(Double($0) - 128, 2) }.reduce(0, +) / Double(values.count))
        }
        let source = try Pixels(200, 200) { _, _ in [128] }.file(.png)
        let percent = try worker.render(source, "grain size=1 | save format=png")
        #expect(try Pixels(percent) == Pixels(worker.render(source, "grain size=2 unit=px | save format=png")))
        let chain = "grain amount=0.2 size=0.1"
        let (whole, half) = (try deviation(1000, chain), try deviation(500, chain))
        #expect(abs(whole - 51) < 4 && abs(half - 25.5) < 2, "\(whole), \(half)")
    }

    @Test("grain is strongest in the middle tones")
    func grainTones() throws {
        let tones = Pixels(240, 100) { x, _ in [[13, 64, 128, 242][x / 60]] }
        let result = try Golden(tones, "grain amount=0.1 size=1 unit=px", worker: WorkerProcess()).result
        let strengths = (0..<4).map { part -> Double in
            let values = (0..<6000).map { Double(result[part * 60 + $0 % 60, $0 / 60][0]) }
            let mean = values.reduce(0, +) / 6000
            return sqrt(values.map { pow($0 - mean, 2) }.reduce(0, +) / 6000)
        }
        for (strength, tone) in zip(strengths, [13.0, 64, 128, 242]) {
            let expected = 25.5 * 4 * tone / 255 * (1 - tone / 255)
            #expect(abs(strength - expected) < 0.1 * expected + 0.6, "\(strengths)")
        }
    }

    @Test("grain has its strength, an average of zero, repeats itself, and changes with the seed")
    func grain() throws {
        let worker = try WorkerProcess()
        let grey = Pixels(200, 150) { _, _ in [128, 128, 128] }
        func made(_ chain: String) throws -> Pixels {
            try Pixels(worker.render(grey.file(.png), "\(chain) | save format=png"))
        }
        for size in [1, 1.5, 4] {
            let grainy = try made("grain amount=0.1 size=\(size) unit=px")
            let values = stride(from: 0, to: grainy.samples.count, by: 3).map { Double(grainy.samples[$0]) }
            let mean = values.reduce(0, +) / Double(values.count)
            let deviation = sqrt(values.map { ($0 - mean) * ($0 - mean) }.reduce(0, +) / Double(values.count))
            #expect(abs(mean - 128) < 2 && abs(deviation - 25.5) < 2, "size \(size): \(mean), \(deviation)")
        }
        #expect(try made("grain size=1") == made("grain size=1"))
        #expect(try made("grain size=1") != made("grain size=1 seed=2"))
        #expect(try made("grain amount=0") == grey)
        let ends = try Pixels(
            worker.render(
                Pixels(40, 40) { x, _ in [x < 20 ? 0 : 255] }.file(.png), "grain amount=1 size=5 | save format=png"))
        #expect(ends.samples.allSatisfy { $0 == 0 || $0 == 255 })
    }
}
