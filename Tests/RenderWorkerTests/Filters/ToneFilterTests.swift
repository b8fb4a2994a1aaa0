import Foundation
import Testing

/// Compares pointwise filters with their formulas.
struct ToneFilterTests {
    struct Look: CustomTestStringConvertible {
        var chain: String
        /// The allowed difference, in 8-bit steps. Steep curves amplify the rounding of intermediate results.
        var tolerance = 1.5
        /// The formula for a colour of three bands or one, with values from 0 to 1.
        var formula: @Sendable ([Double]) -> [Double]

        var testDescription: String { chain }
    }

    private static let looks = [
        Look(chain: "noir", tolerance: 2) { [sCurve(luma($0), 1)] },
        Look(chain: "mono") { [luma($0)] },
        Look(chain: "mono red=1 green=0 blue=0") { [$0[0]] },
        Look(chain: "mono red=1.5 blue=-0.5", tolerance: 2) { colours in
            let (red, green, blue) = (1.5 / 1.587, 0.587 / 1.587, -0.5 / 1.587)
            return [colours.count == 1 ? colours[0] : red * colours[0] + green * colours[1] + blue * colours[2]]
        },
        Look(chain: "mono brightness=0.5 contrast=0.4", tolerance: 3) { [sCurve(pow(luma($0), pow(0.5, 0.5)), 0.4)] },
        Look(chain: "sepia", tolerance: 3, formula: { sepia(luma($0)) }),
        Look(chain: "sepia strength=0.5", tolerance: 2) { colours in
            sepia(luma(colours)).map { mixed(luma(colours), $0, 0.5) }
        },
        Look(chain: "duotone dark=#102030 light=#f0e0d0 contrast=0") { colours in
            zip([16.0, 32, 48], [240.0, 224, 208]).map { mixed($0, $1, luma(colours)) / 255 }
        },
        Look(chain: "duotone", tolerance: 2) { colours in
            zip([20.0, 18, 63], [255.0, 224, 173]).map { mixed($0, $1, sCurve(luma(colours), 0.6)) / 255 }
        },
        Look(chain: "instant", formula: instant),
        Look(chain: "instant strength=0.25") { zip(thrice($0), instant($0)).map { mixed($0, $1, 0.25) } },
        Look(chain: "chrome", tolerance: 2) { curved(saturated($0, 1.3)) { sCurve($0, 0.5) } },
        Look(chain: "chrome saturation=0 contrast=0") { saturated($0, 0) },
        Look(chain: "fade") { clipped(saturated($0, 0.825)).map { 0.08 + 0.895 * $0 } },
        Look(chain: "fade strength=1") { clipped(saturated($0, 0.65)).map { 0.16 + 0.79 * $0 } },
        Look(chain: "fade strength=0") { $0 },
        Look(chain: "tone exposure=1", tolerance: 2) { curved($0.map { encoded(2 * linear($0)) }) { $0 } },
        Look(chain: "tone exposure=-2") { $0.map { encoded(linear($0) / 4) } },
        Look(chain: "tone contrast=-0.5") { curved($0) { $0 - 0.5 * (sCurve($0, 1) - $0) } },
        Look(chain: "tone shadows=1", tolerance: 2) { curved($0) { $0 + $0 * pow(1 - $0, 3) } },
        Look(chain: "tone highlights=0.5") { curved($0) { $0 + 0.5 * (1 - $0) * pow($0, 3) } },
        Look(chain: "tone saturation=0.5") { saturated($0, 0.5) },
        Look(chain: "tone vibrance=-0.5") { colours in
            let most = colours.max() ?? 0
            return saturated(colours, most > 0 ? 1 - 0.5 * (colours.min() ?? 0) / most : 1)
        },
        Look(chain: "tone temperature=1 tint=-1", tolerance: 2) { colours in
            guard colours.count > 1 else { return colours }
            let gains = [pow(2, 0.5), pow(2, 0.25), pow(2, -0.5)]
            let white = zip(gains, [0.2126, 0.7152, 0.0722]).map(*).reduce(0, +)
            return curved(zip(colours, gains).map { encoded($1 / white * linear($0)) }) { $0 }
        },
    ]

    private static func thrice(_ colours: [Double]) -> [Double] {
        colours.count == 1 ? [colours[0], colours[0], colours[0]] : colours
    }

    /// Multiplies each value's distance from luma by `factor`. The results may lie beyond black and white.
    private static func saturated(_ colours: [Double], _ factor: Double) -> [Double] {
        colours.map { mixed(luma(colours), $0, factor) }
    }

    private static func clipped(_ colours: [Double]) -> [Double] { colours.map { min(max($0, 0), 1) } }

    /// Applies the curve to the smallest and the largest value. The others keep their relative positions between these
    /// two, so the hue stays the same.
    private static func curved(_ colours: [Double], _ curve: (Double) -> Double) -> [Double] {
        let (low, high) = (colours.min() ?? 0, colours.max() ?? 0)
        let (black, white) = (curve(min(max(low, 0), 1)), curve(min(max(high, 0), 1)))
        return colours.map { high > low ? mixed(black, white, ($0 - low) / (high - low)) : black }
    }

    private static func linear(_ x: Double) -> Double { x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4) }

    private static func encoded(_ light: Double) -> Double {
        light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    private static func sepia(_ x: Double) -> [Double] { [pow(x, 0.78), pow(x, 1.02), pow(x, 1.4)] }

    private static func instant(_ colours: [Double]) -> [Double] {
        let (black, white, power) = ([0.05, 0.04, 0.13], [1, 0.97, 0.82], [0.88, 0.98, 1.05])
        return thrice(colours).enumerated().map { band, x in
            mixed(black[band], white[band], sCurve(pow(x, power[band]), 0.4))
        }
    }

    static let patches = Pixels(64, 64) { x, y in [x / 8 * 36, y / 8 * 36, (x / 8 + y / 8) * 18] }
    static let ramp = Pixels(256, 2) { x, _ in [x] }
    static let widePatches = Pixels(64, 64) { x, y in [x * 1000, y * 1000, 30000, (x + y) * 500] }

    @Test("Colours follow the formula", arguments: looks)
    func colours(look: Look) throws {
        let golden = try Golden(Self.patches, look.chain, worker: WorkerProcess())
        #expect(golden.worst { look.formula(golden[$0, $1]) } <= look.tolerance)
    }

    @Test("A grey picture follows the formula, and stays grey where the formula does", arguments: looks)
    func grey(look: Look) throws {
        let golden = try Golden(Self.ramp, look.chain, worker: WorkerProcess())
        #expect(golden.worst { look.formula(golden[$0, $1]) } <= 0.51)
    }

    @Test("tone without values changes no byte", arguments: [1, 2, 3, 4], [false, true])
    func neutral(bands: Int, is16Bit: Bool) throws {
        let step = is16Bit ? 257 : 1
        let source = Pixels(256, 16) { x, y in [x, 255 - x, y * 16, x].prefix(bands).map { $0 * step } }
        let chain = "tone exposure=0 saturation=1 temperature=0"
        #expect(try Golden(source, chain, is16Bit: is16Bit, worker: WorkerProcess()).result == source)
    }

    @Test("tone's highlights bring back what exposure has moved beyond white, and grey pictures have no white balance")
    func highlights() throws {
        let worker = try WorkerProcess()
        let bright = try Golden(Self.ramp, "tone exposure=2", worker: worker).result
        #expect(bright[200, 0] == [255] && bright[255, 0] == [255])
        let kept = try Golden(Self.ramp, "tone exposure=2 highlights=-1", worker: worker).result
        #expect(kept[255, 0] == [255] && (1..<256).allSatisfy { kept[$0, 0][0] >= kept[$0 - 1, 0][0] })
        #expect(kept[254, 0][0] < 255 && kept[200, 0][0] < 240)
        #expect(try Golden(Self.ramp, "tone temperature=1 tint=1", worker: worker).result == Self.ramp)
    }

    @Test("chrome keeps the hue of a sky")
    func sky() throws {
        let sky = Pixels(16, 16) { _, _ in [105, 160, 225] }
        let result = try Golden(sky, "chrome", worker: WorkerProcess()).result[0, 0].map(Double.init)
        let place = (result[1] - result[0]) / (result[2] - result[0])
        #expect(abs(place - (160.0 - 105) / (225 - 105)) < 0.01 && result[2] - result[0] > 130, "\(result)")
    }

    @Test("sepia keeps black and white")
    func ends() throws {
        let result = try Golden(Self.ramp, "sepia", worker: WorkerProcess()).result
        #expect(result[0, 0] == [0, 0, 0] && result[255, 0] == [255, 255, 255])
    }

    @Test("16 bits are as exact as possible, and alpha is unchanged", arguments: looks)
    func wideAndTransparent(look: Look) throws {
        let golden = try Golden(Self.widePatches, look.chain, is16Bit: true, worker: WorkerProcess())
        // Near black, a power function is steep, so rounding and the steps of a curve have a larger effect.
        #expect(golden.worst { look.formula(Array(golden[$0, $1].prefix(3))) + golden[$0, $1].suffix(1) } <= 12)
    }
}
