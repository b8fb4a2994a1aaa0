import Foundation
import TestTools
import Testing

/// Checks results with gain maps through readers from PyPI that this project did not write: libultrahdr and
/// gainmap-audit.
struct ForeignHDRTests {
    private static let python = ProcessInfo.processInfo.environment["PIPELINED_HDR_READER"]

    private struct Reading: Decodable {
        struct Place: Decodable {
            var x: Int
            var y: Int
            var light: [Double]
        }

        var kind: String
        var width: Int
        var height: Int
        var places: [Place]
    }

    private static func read(_ files: [TemporaryFile]) throws -> [Reading] {
        let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Fixture/hdr_reader.py").path
        let process = try ChildProcess(#require(python), [program] + files.map(\.path))
        _ = process.wait()
        try #require(process.status == 0, "\(process.errors)")
        return try JSONDecoder().decode([Reading].self, from: Data(process.output.utf8))
    }

    @Test(
        "libultrahdr shows a result's light as the tests compute it, and gainmap-audit finds its map",
        .enabled(if: python != nil, "./run test installs the readers, if PyPI can be reached"),
        arguments: [false, true])
    func read(coloured: Bool) throws {
        let channels = [HDRFile.Channel(), HDRFile.Channel(least: 0, most: 1.5, gamma: 1.2), HDRFile.Channel(most: 3)]
        let worker = try WorkerProcess()
        for form in [HDRFile.Form.ultraHDR, .iso, .both] {
            let source = try HDRFile.photograph(800, 480, coloured: coloured, orientation: 6) { file in
                file.form = form
                if coloured { file.channels = channels }
            }
            let chains = [
                "save", "resize scale=0.5 | flip | save", "resize scale=0.5 kernel=lanczos3 | save metadata=strip",
                "crop ratio=1:1 | border width=20 unit=px | save", "resize scale=0.5 | noir | save",
                "save metadata=copyright max-bytes=100K",
            ]
            let files = try chains.map { try worker.render(source, $0) }
            for (reading, (file, chain)) in zip(try Self.read(files), zip(files, chains)) {
                let own = try HDRRendition(file)
                #expect(reading.kind == "ultrahdr", "\(form), \(chain)")
                #expect(reading.width == own.picture.width && reading.height == own.picture.height, "\(form), \(chain)")
                let distances = reading.places.flatMap { place in
                    (0..<3).map { abs(log2((place.light[$0] + 0.02) / (own.light(place.x, place.y, $0) + 0.02))) }
                }
                let mean = distances.reduce(0, +) / Double(max(1, distances.count))
                #expect(mean < 0.05, "\(form), \(chain): \(mean) stops")
            }
        }
    }
}
