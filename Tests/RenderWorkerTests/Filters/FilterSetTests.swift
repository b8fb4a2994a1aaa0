import Foundation
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

/// Runs all filters on every kind of picture that they may get.
struct FilterSetTests {
    /// The effect of a filter on the bands.
    enum Colour { case stays, becomesGrey, becomesColour }

    struct Case: CustomTestStringConvertible {
        var chain: String
        var colour = Colour.stays
        /// The size of the result, for filters that change it.
        var size: @Sendable (_ width: Int, _ height: Int) -> (Int, Int) = { ($0, $1) }
        /// Whether the filter keeps alpha.
        var keepsAlpha = true

        var name: String { String(chain.prefix { $0 != " " }) }
        var testDescription: String { chain }
    }

    static let cases = [
        Case(chain: "autolevels"), Case(chain: "autolevels balance=yes clip=5"),
        Case(chain: "blur radius=3 unit=px", keepsAlpha: false), Case(chain: "blur radius=30", keepsAlpha: false),
        Case(
            chain: "border width=3 unit=px", size: { ($0 + 6, $1 + 6) }, keepsAlpha: false),
        Case(
            chain: "border width=2 unit=px colour=#203040", colour: .becomesColour, size: { ($0 + 4, $1 + 4) },
            keepsAlpha: false),
        Case(chain: "chrome"),
        Case(
            chain: "crop ratio=1:1", size: { (min($0, $1), min($0, $1)) }, keepsAlpha: false),
        Case(
            chain: "crop ratio=1:1 position=attention", size: { (min($0, $1), min($0, $1)) }, keepsAlpha: false),
        Case(
            chain: "crop width=20 height=10 position=entropy", size: { (min($0, 20), min($1, 10)) }, keepsAlpha: false),
        Case(chain: "crop width=7 position=right", size: { (min($0, 7), $1) }, keepsAlpha: false),
        Case(
            chain: "frame width=3 unit=px", size: { ($0 + 6, $1 + 6) }, keepsAlpha: false),
        Case(
            chain: "frame width=2 unit=px strip=20 caption=Ada credit=Bob", size: { ($0 + 4, $1 + 22) },
            keepsAlpha: false),
        Case(
            chain: "frame width=0 unit=px strip=1 caption=Ada text-colour=#ff0000", colour: .becomesColour,
            size: { ($0, $1 + 1) }, keepsAlpha: false),
        Case(chain: "duotone", colour: .becomesColour), Case(chain: "fade"), Case(chain: "flip", keepsAlpha: false),
        Case(chain: "flip direction=vertical", keepsAlpha: false), Case(chain: "grain"),
        Case(chain: "lut file=look.cube", colour: .becomesColour),
        Case(chain: "instant", colour: .becomesColour), Case(chain: "mono", colour: .becomesGrey),
        Case(chain: "mono red=1 green=0 blue=-0.2", colour: .becomesGrey),
        Case(chain: "noir", colour: .becomesGrey), Case(chain: "rotate", size: { ($1, $0) }, keepsAlpha: false),
        Case(chain: "rotate angle=180", keepsAlpha: false),
        Case(chain: "sepia", colour: .becomesColour),
        Case(chain: "sharpen"), Case(chain: "tilt-shift", keepsAlpha: false),
        Case(chain: "straighten angle=7", size: { straightened($0, $1, by: 7) }, keepsAlpha: false),
        Case(chain: "straighten angle=-45", size: { straightened($0, $1, by: 45) }, keepsAlpha: false),
        Case(chain: "tilt-shift width=0 blur=20 angle=30", keepsAlpha: false), Case(chain: "tone"),
        Case(chain: "tone exposure=1 highlights=-0.5 temperature=0.3 vibrance=0.5"), Case(chain: "vignette"),
        Case(chain: "watermark text=Ada", keepsAlpha: false),
        Case(chain: "watermark text=Ada colour=#ff0000 size=100", colour: .becomesColour, keepsAlpha: false),
    ]

    /// Returns the size of the largest rectangle with the picture's aspect ratio that fits into the turned picture.
    private static func straightened(_ width: Int, _ height: Int, by degrees: Double) -> (Int, Int) {
        let (across, down) = (cos(degrees * .pi / 180), sin(degrees * .pi / 180))
        let (wide, high) = (Double(width), Double(height))
        let part = min(wide / (wide * across + high * down), high / (wide * down + high * across))
        return (max(1, Int(wide * part)), max(1, Int(high * part)))
    }

    /// Widths and heights: single pixels, single rows and columns, odd sizes, and a size that libvips reads in several
    /// parts.
    private static let sizes = Sweep.of(
        [(1, 1), (3, 1), (1, 7), (31, 17), (530, 40)],
        all: [1, 2, 3, 7, 16, 33, 530].flatMap { width in [1, 2, 5, 17, 64].map { (width, $0) } })

    @Test("Each filter keeps its promises for pictures of every kind and size", arguments: cases)
    func kinds(example: Case) throws {
        let worker = try WorkerProcess()
        worker.give(["look.cube": Array(FilterBook.cube.utf8)])
        for (width, height) in Self.sizes {
            for bands in 1...4 {
                for is16Bit in [false, true] {
                    try check(example, width, height, bands, is16Bit, worker)
                }
            }
        }
    }

    private func check(
        _ example: Case, _ width: Int, _ height: Int, _ bands: Int, _ is16Bit: Bool, _ worker: WorkerProcess
    ) throws {
        let what = Comment(rawValue: "\(width) × \(height), \(bands) bands, \(is16Bit ? 16 : 8) bit")
        let most = is16Bit ? 65535 : 255
        let source = Pixels(width, height) { x, y in
            [x * 37 + y * 11, x * 5 + y * 101, x * y * 3, x * 29 + y * 53].prefix(bands).map { $0 * most / 255 % most }
        }
        let made = try VipsPicture(
            worker.render(source.file(.png, is16Bit: is16Bit), "\(example.chain) | save format=png"))
        let result = try made.pixels()
        let alpha = bands % 2 == 0 ? 1 : 0
        let colours = [.stays: bands - alpha, .becomesGrey: 1, .becomesColour: 3][example.colour]
        #expect((result.width, result.height) == example.size(width, height), what)
        #expect(result.bands == (colours ?? 0) + alpha, what)
        #expect(made.is16Bit == is16Bit, what)
        guard alpha == 1, example.keepsAlpha, result.samples.count / result.bands == width * height else { return }
        let isSame = (0..<width * height).allSatisfy {
            result.samples[($0 + 1) * result.bands - 1] == source.samples[($0 + 1) * bands - 1]
        }
        #expect(isSame, "alpha of \(what)")
    }

    @Test("Each filter listed in Package.swift exists, has a description, and is among these cases")
    func complete() throws {
        let hello = try WorkerProcess().hello
        let names = hello.filters.map(\.name)
        #expect(names == (try Self.listed()))
        #expect(Set(Self.cases.map(\.name)) == Set(names))
        #expect(hello.skipped.isEmpty)
        for filter in hello.filters {
            #expect(!filter.parameters.isEmpty && filter.parameters.allSatisfy { !$0.isRequired }, "\(filter.name)")
        }
    }

    /// Returns the names of the filters listed in Package.swift: the module `TiltShift` contains `tilt-shift`.
    private static func listed() throws -> [String] {
        let package = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../Package.swift").standardized
        let text = try String(contentsOf: package, encoding: .utf8)
        let list = try #require(text.firstMatch(of: /let filters = \[([^\]]*)\]/)?.1)
        return list.matches(of: /"(\w+)"/).map { match in
            match.1.reduce("") { $0 + ($1.isUppercase && !$0.isEmpty ? "-" : "") + $1.lowercased() }
        }.sorted()
    }
}
