import Foundation
import Testing

/// Compares pointwise filters with their formulas.
struct ToneFilterTests {
    struct Look: CustomTestStringConvertible {
        var chain: String
        /// The allowed difference, in steps of 256. Steep curves amplify the rounding of intermediate results.
        var tolerance = 1.5
        /// The formula for a colour of three bands or one, with values from 0 to 1.
        var formula: @Sendable ([Double]) -> [Double]

        var testDescription: String { chain }
    }

    private static let looks = [
        Look(chain: "noir", tolerance: 2) { [sCurve(luma($0), 1)] },
        Look(chain: "mono") { [luma($0)] },
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
        Look(chain: "chrome", tolerance: 2) { saturated($0, 1.3).map { sCurve($0, 0.5) } },
        Look(chain: "chrome saturation=0 contrast=0") { saturated($0, 0) },
        Look(chain: "fade") { saturated($0, 0.65).map { 0.16 + 0.79 * $0 } },
        Look(chain: "fade strength=0") { $0 },
    ]

    private static func thrice(_ colours: [Double]) -> [Double] {
        colours.count == 1 ? [colours[0], colours[0], colours[0]] : colours
    }

    private static func saturated(_ colours: [Double], _ factor: Double) -> [Double] {
        colours.map { min(max(mixed(luma(colours), $0, factor), 0), 1) }
    }

    private static func sepia(_ x: Double) -> [Double] { [pow(x, 0.8), 0.94 * pow(x, 1.03), 0.8 * pow(x, 1.3)] }

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

    @Test("16 bits are as exact as possible, and alpha is unchanged", arguments: looks)
    func wideAndTransparent(look: Look) throws {
        let golden = try Golden(Self.widePatches, look.chain, is16Bit: true, worker: WorkerProcess())
        // Near black, a power function is steep, so rounding has a larger effect.
        #expect(golden.worst { look.formula(Array(golden[$0, $1].prefix(3))) + golden[$0, $1].suffix(1) } <= 8)
    }
}
