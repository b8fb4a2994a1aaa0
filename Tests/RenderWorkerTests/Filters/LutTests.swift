import Foundation
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

/// Compares `lut` with formulas, and tests it with invalid files.
struct LutTests {
    /// Returns the text of a table of three dimensions. `colour` maps red, green and blue from 0 to 1.
    private static func cube(_ size: Int, head: String = "", of colour: ([Double]) -> [Double]) -> String {
        let steps = (0..<size).map { Double($0) / Double(size - 1) }
        let lines = steps.flatMap { blue in
            steps.flatMap { green in steps.map { red in colour([red, green, blue]) } }
        }
        return "# a look\nTITLE \"look\"\n\(head)LUT_3D_SIZE \(size)\n" + text(lines)
    }

    private static func curves(_ size: Int, _ colour: (Double) -> [Double]) -> String {
        "LUT_1D_SIZE \(size)\r\n" + text((0..<size).map { colour(Double($0) / Double(size - 1)) })
    }

    private static func text(_ lines: [[Double]]) -> String {
        lines.map { $0.map { "\($0)" }.joined(separator: " ") }.joined(separator: "\n") + "\n"
    }

    /// Applies a look to a colour. The look is not linear, and mixes the bands.
    private static func look(_ colour: [Double]) -> [Double] {
        [colour[0] * colour[0], (colour[1] + colour[2]) / 2, 1 - colour[0] * colour[1]]
    }

    /// Applies the look to a colour by tetrahedral interpolation in a table of this size, computed from its definition.
    private static func looked(_ colour: [Double], _ size: Int) -> [Double] {
        let places = colour.map { $0 * Double(size - 1) }
        let corner = places.map { min(Double(size - 2), $0.rounded(.down)) }
        let parts = zip(places, corner).map { $0 - $1 }
        var (at, weight, sum) = (corner, 1.0, [0.0, 0, 0])
        for axis in [0, 1, 2].sorted(by: { parts[$0] > parts[$1] }) {
            let near = look(at.map { $0 / Double(size - 1) })
            sum = zip(sum, near).map { $0 + (weight - parts[axis]) * $1 }
            (weight, at[axis]) = (parts[axis], at[axis] + 1)
        }
        let last = look(at.map { $0 / Double(size - 1) })
        return zip(sum, last).map { $0 + weight * $1 }
    }

    private static let colours = Pixels(64, 64) { x, y in [x * 4, y * 4, (x * 7 + y * 13) % 256] }
    private static let wide = Pixels(64, 64) { x, y in [x * 1000, y * 1000, (x * 771 + y * 1313) % 65536, x * 900] }

    private func golden(
        _ source: Pixels, _ file: String, _ values: String = "", is16Bit: Bool = false
    ) throws -> Golden {
        let worker = try WorkerProcess()
        worker.give(["look.cube": Array(file.utf8)])
        return try Golden(source, "lut file=look.cube \(values)", is16Bit: is16Bit, worker: worker)
    }

    @Test("a table of three dimensions is read between its colours by tetrahedra", arguments: [2, 5, 17])
    func tetrahedra(size: Int) throws {
        let golden = try golden(Self.colours, Self.cube(size, of: Self.look))
        #expect(golden.worst { Self.looked(golden[$0, $1], size) } <= 0.51)
        let wide = try self.golden(Self.wide, Self.cube(size, of: Self.look), is16Bit: true)
        #expect(
            wide.worst { Self.looked(Array(wide[$0, $1].prefix(3)), size) + wide[$0, $1].suffix(1) } <= 1.5)
    }

    @Test("a table that changes nothing changes no byte, and greys stay grey")
    func same() throws {
        #expect(try golden(Self.colours, Self.cube(9) { $0 }).result == Self.colours)
        let warm = try golden(Self.colours, Self.cube(9) { colour in colour.map { $0 * $0 } }, "strength=0")
        #expect(warm.result == Self.colours)
        let greys = try golden(ToneFilterTests.ramp, Self.cube(5) { colour in colour.map { $0 * $0 } }).result
        #expect(greys.bands == 3)
        #expect((0..<256).allSatisfy { Set(greys[$0, 0]).count == 1 })
    }

    @Test("a table of one dimension is a curve for each band, and half the strength is half the look")
    func curves() throws {
        let file = Self.curves(11) { [$0 * $0, 1 - $0, 0.25] }
        func curve(_ x: Double) -> Double {
            let step = min(9, (x * 10).rounded(.down)), part = x * 10 - step
            return mixed(pow(step / 10, 2), pow((step + 1) / 10, 2), part)
        }
        for (values, strength) in [("", 1.0), ("strength=0.5", 0.5)] {
            let golden = try golden(Self.colours, file, values)
            let worst = golden.worst { x, y in
                let colour = golden[x, y]
                return zip(colour, [curve(colour[0]), 1 - colour[1], 0.25]).map { mixed($0, $1, strength) }
            }
            #expect(worst <= 0.51)
        }
    }

    @Test(
        "the domain of a table is honoured",
        arguments: ["DOMAIN_MIN 0.25 0.25 0.25\nDOMAIN_MAX 0.75 0.75 0.75\n", "LUT_3D_INPUT_RANGE 0.25 0.75\n"])
    func domain(head: String) throws {
        let golden = try golden(Self.colours, Self.cube(2, head: head) { $0 })
        #expect(golden.worst { golden[$0, $1].map { ($0 - 0.25) / 0.5 } } <= 0.51)
    }

    @Test(
        "a file that is no table is refused with its line",
        arguments: [
            ("", "'look.cube' has only 0 of 0 colours"), ("hello\n", "line 1 of 'look.cube' is not valid"),
            ("LUT_3D_SIZE 1\n", "line 1 of"), ("LUT_3D_SIZE 129\n1 1 1\n", "has only 1 of 2146689 colours"),
            ("LUT_3D_SIZE 130\n", "line 1 of"), ("LUT_1D_SIZE 65537\n", "line 1 of"),
            ("LUT_3D_SIZE 2\nLUT_1D_SIZE 2\n", "line 2 of"), ("LUT_1D_SIZE 2\n0 0 0\n", "has only 1 of 2 colours"),
            ("LUT_1D_SIZE 2\n0 0 0\n1 1 1\n1 1 1\n", "line 4 of"), ("LUT_1D_SIZE 2\n0 0\n", "line 2 of"),
            ("LUT_1D_SIZE 2\n0 0 nan\n", "line 2 of"), ("LUT_1D_SIZE 2\n0 0 0 0\n", "line 2 of"),
            ("LUT_1D_SIZE 2\nDOMAIN_MIN 1 0 0\n0 0 0\n1 1 1\n", "the domain of 'look.cube' is empty"),
        ])
    func refusals(text: String, message: String) throws {
        let worker = try WorkerProcess()
        worker.give(["look.cube": Array(text.utf8)])
        let failure = try worker.failure(Self.colours.file(.png), "lut file=look.cube")
        #expect(failure.stage == "lut" && failure.message.contains(message), "\(failure)")
    }

    @Test("the largest table of one dimension changes no byte")
    func largest() throws {
        #expect(try golden(Self.colours, Self.curves(65536) { [$0, $0, $0] }).result == Self.colours)
    }

    @Test("pictures of one worker get their own files, also one after the other")
    func several() throws {
        let worker = try WorkerProcess()
        let half = Self.cube(2) { colour in colour.map { $0 / 2 } }, none = Self.cube(2) { _ in [0, 0, 0] }
        worker.give(["half.cube": Array(half.utf8), "none.cube": Array(none.utf8)])
        let source = try Pixels(8, 8) { _, _ in [200, 100, 50] }.file(.png)
        for _ in 0..<3 {
            let results = try worker.render(
                source, ["half", "none"].map { "lut file=\($0).cube | save format=png" })
            #expect(try results.map { try Pixels($0)[0, 0] } == [[100, 50, 25], [0, 0, 0]])
            let one = try worker.render(source, "lut file=none.cube | lut file=half.cube | save format=png")
            #expect(try Pixels(one)[0, 0] == [0, 0, 0])
        }
    }

    @Test(
        "a chain that names no file, or a file that is not there, is refused with the place",
        arguments: [
            ("lut", "'lut' needs 'file' at column 1"),
            (
                "noir | lut file=other.cube",
                "file=other.cube names no file that the daemon has read at column 12; put it into"
            ),
            (
                "lut file=a/look.cube",
                "file=a/look.cube is no name of such a file at column 5; write the name of a .cube file"
            ),
            ("lut file=look.png", "is no name of such a file"),
            ("lut file=broken.cube", "can't be used: it is too large"),
        ])
    func chains(chain: String, message: String) throws {
        let files = FilterFiles(
            in: "/etc/pipelined/recipes.d", digests: ["look.cube": "1"], refused: ["broken.cube": "it is too large"])
        let catalog = StageCatalog(filters: try WorkerProcess().hello.filters, files: files)
        let problem = #expect(throws: ChainProblem.self) { try Chain(parsing: chain, catalog: catalog) }
        #expect(problem?.message.contains(message) == true, "\(problem?.message ?? "")")
        let stage = try Chain(parsing: "lut file=look.cube", catalog: catalog).stages[0]
        #expect(stage.files == ["file": "1"] && stage.arguments["file"] == .text("look.cube"))
    }
}
