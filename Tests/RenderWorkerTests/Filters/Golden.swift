import Foundation
import Testing

/// Compares a filter's result with a formula that was written independently of the filter's code.
struct Golden {
    /// The source's samples, from 0 to 1. Outside the picture, the nearest edge pixel is repeated.
    let source: Pixels
    let result: Pixels
    let most: Double

    init(_ source: Pixels, _ chain: String, is16Bit: Bool = false, worker: WorkerProcess) throws {
        self.source = source
        let file = try VipsPicture(worker.render(source.file(.png, is16Bit: is16Bit), "\(chain) | save format=png"))
        try #require(file.is16Bit == is16Bit, "\(chain) changes the samples' format")
        result = try file.pixels()
        most = is16Bit ? 65535 : 255
    }

    subscript(x: Int, y: Int) -> [Double] {
        source[min(max(x, 0), source.width - 1), min(max(y, 0), source.height - 1)].map { Double($0) / most }
    }

    /// Returns the largest difference from the formula, in sample steps. It is infinite if the number of bands differs.
    func worst(_ formula: (_ x: Int, _ y: Int) -> [Double]) -> Double {
        var worst = 0.0
        for y in 0..<result.height {
            for x in 0..<result.width {
                let (there, ought) = (result[x, y], formula(x, y))
                guard there.count == ought.count else { return .infinity }
                for (sample, value) in zip(there, ought) {
                    worst = max(worst, abs(Double(sample) - min(max(value, 0), 1) * most))
                }
            }
        }
        return worst
    }

    /// Returns the similarity of the whole picture to the formula, in dB.
    func likeness(_ formula: (_ x: Int, _ y: Int) -> [Double]) -> Double {
        var squares = 0.0
        for y in 0..<result.height {
            for x in 0..<result.width {
                for (sample, value) in zip(result[x, y], formula(x, y)) {
                    squares += pow(Double(sample) / most - value, 2)
                }
            }
        }
        return -10 * log10(squares / Double(result.samples.count))
    }
}

/// Returns the Rec. 601 luma of one or three bands.
func luma(_ colours: [Double]) -> Double {
    colours.count < 3 ? colours[0] : 0.299 * colours[0] + 0.587 * colours[1] + 0.114 * colours[2]
}

/// Applies noir's S-shaped curve.
func sCurve(_ x: Double, _ contrast: Double) -> Double {
    func logistic(_ x: Double) -> Double { 1 / (1 + exp(-x)) }
    let k = 6 * contrast
    return k == 0 ? x : (logistic(k * (x - 0.5)) - logistic(-k / 2)) / (logistic(k / 2) - logistic(-k / 2))
}

func mixed(_ a: Double, _ b: Double, _ amount: Double) -> Double { a + (b - a) * amount }
