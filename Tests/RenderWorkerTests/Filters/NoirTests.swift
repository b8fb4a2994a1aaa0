import Foundation
import PipelineModel
import Testing
import WorkerProtocol

/// Compares noir with its formula.
struct NoirTests {
    /// Returns the expected sample: the Rec. 601 luma, to which the S-shaped curve is applied.
    static func formula(_ colour: [Int], contrast: Double = 1, strength: Double = 1, most: Double = 255) -> Double {
        let luma =
            colour.count < 3
            ? Double(colour[0])
            : (0.299 * Double(colour[0]) + 0.587 * Double(colour[1]) + 0.114 * Double(colour[2])).rounded()
        func logistic(_ x: Double) -> Double { 1 / (1 + exp(-x)) }
        let (x, k) = (luma / most, 6 * contrast)
        guard k > 0 else { return luma }
        let curve = (logistic(k * (x - 0.5)) - logistic(-k / 2)) / (logistic(k / 2) - logistic(-k / 2))
        return (most * (x + strength * (curve - x))).rounded()
    }

    static let ramp = Pixels(256, 4) { x, _ in [x] }
    static let patches = Pixels(64, 64) { x, y in [x / 8 * 36, y / 8 * 36, (x / 8 + y / 8) * 18] }

    @Test(
        "A grey ramp follows the curve exactly",
        arguments: [(1.0, 1.0), (0.0, 1.0), (2.5, 1.0), (1.0, 0.5), (1.0, 0.0)])
    func greyRamp(contrast: Double, strength: Double) throws {
        let worker = try WorkerProcess()
        let result = try Pixels(
            worker.render(Self.ramp.file(.png), "noir contrast=\(contrast) strength=\(strength) | save format=png"))
        let expected = Pixels(256, 4) { x, _ in [Int(Self.formula([x], contrast: contrast, strength: strength))] }
        #expect(result == expected)
    }

    @Test("Colours become their luma, then the curve, within one step of rounding")
    func colourPatches() throws {
        let worker = try WorkerProcess()
        let result = try Pixels(worker.render(Self.patches.file(.png), "noir | save format=png"))
        #expect(result.bands == 1)
        let worst = (0..<64 * 64).map { index in
            let (x, y) = (index % 64, index / 64)
            return abs(Double(result[x, y][0]) - Self.formula(Self.patches[x, y]))
        }
        // If luma is rounded differently, the steep curve amplifies the difference.
        #expect(worst.max() ?? 99 <= 2)
    }

    @Test("Blacks are deep, whites bright, and the ends stay fixed")
    func isAnS() throws {
        let worker = try WorkerProcess()
        let result = try Pixels(worker.render(Self.ramp.file(.png), "noir | save format=png"))
        #expect(result[0, 0] == [0] && result[255, 0] == [255])
        #expect(result[64, 0][0] < 50 && result[192, 0][0] > 205)
    }

    @Test("16 bits stay 16 bits, and alpha is unchanged")
    func wideAndTransparent() throws {
        let worker = try WorkerProcess()
        let wide = Pixels(64, 64) { x, y in [x * 1000, y * 1000, 30000, (x + y) * 500] }
        let source = try wide.file(.png, is16Bit: true)
        let result = try VipsPicture(worker.render(source, "noir | save format=png"))
        let pixels = try result.pixels()
        #expect(result.is16Bit && pixels.bands == 2)
        for x in stride(from: 0, to: 64, by: 9) {
            let expected = Self.formula(Array(wide[x, 30].prefix(3)), most: 65535)
            #expect(abs(Double(pixels[x, 30][0]) - expected) <= 2)
            #expect(pixels[x, 30][1] == (x + 30) * 500)
        }
    }

    @Test("The worker reports noir's own description to the daemon")
    func description() throws {
        let noir = try #require(try WorkerProcess().hello.filters.first { $0.name == "noir" })
        #expect(noir.parameters.map(\.name) == ["contrast", "strength"])
        #expect(noir.traits == [.lumaOnly, .pointwise, .curve, .keepsGainMap])
        #expect(noir.file?.hasSuffix("libnoir.so") == true)
    }
}
