import Foundation
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

/// Checks docs/filters.md against the filters' own descriptions. `./run docs` writes the file through this test, and
/// passes the folder of the project's sample pictures in `PIPELINED_DOCS`.
@Suite("docs/filters.md")
struct FilterBookTests {
    private static let docs = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../docs").standardized
    private static let samples = ProcessInfo.processInfo.environment["PIPELINED_DOCS"]

    @Test("The file matches the program; ./run docs writes it")
    func text() throws {
        let text = FilterBook.text(try WorkerProcess().hello.filters)
        let file = Self.docs.appendingPathComponent("filters.md")
        if Self.samples != nil { try Data(text.utf8).write(to: file) }
        #expect(try String(contentsOf: file, encoding: .utf8) == text)
    }

    @Test("Each filter has a picture of at most 25 KB")
    func pictures() throws {
        let worker = try WorkerProcess()
        if let samples = Self.samples { try Self.draw(worker, samples) }
        let wanted = worker.hello.filters.flatMap { filter in
            [FilterBook.picture(filter.name), FilterBook.picture(FilterBook.example(filter.name).after)]
        }
        for picture in Set(wanted) { try Self.check(picture, most: 25 << 10) }
    }

    @Test("README begins with a picture and the results of three filters, in at most 80 KB")
    func strip() throws {
        if let samples = Self.samples { try Self.drawStrip(try WorkerProcess(), samples) }
        try Self.check(Self.stripFile, most: 80 << 10)
    }

    private static let stripFile = "pictures/strip.webp"

    private static func check(_ picture: String, most: Int) throws {
        let bytes = try Data(contentsOf: docs.appendingPathComponent(picture))
        #expect(bytes.count > 500 && bytes.count <= most, "\(picture): \(bytes.count) bytes")
    }

    private static func drawStrip(_ worker: WorkerProcess, _ samples: String) throws {
        let sample = try sample(samples)
        let parts = try ["", "noir | ", "sepia | ", "duotone | "].map {
            try worker.render(sample, "resize width=300 kernel=lanczos3 | \($0)save format=png")
        }
        let options = ["--across", "4", "--shim", "6", "--background", "255"]
        let words = ["arrayjoin", parts.map(\.path).joined(separator: " "), docs.path + "/\(stripFile)[Q=85,strip]"]
        let outcome = try withExtendedLifetime(parts) { try ChildProcess("/usr/bin/vips", words + options).wait() }
        try #require(outcome.status == 0, "\(outcome.errors)")
    }

    private static func sample(_ samples: String) throws -> TemporaryFile {
        try TemporaryFile([UInt8](Data(contentsOf: URL(fileURLWithPath: samples + "/sunset-at-sea.jpg"))))
    }

    private static func draw(_ worker: WorkerProcess, _ samples: String) throws {
        worker.give(["dusk.cube": Array(FilterBook.cube.utf8)])
        let sample = try sample(samples)
        // All examples start with the same resize.
        let start = "resize width=360 kernel=lanczos3"
        let save = "save format=webp quality=80 metadata=strip"
        func draw(_ picture: String, _ stages: String?...) throws {
            let chain = ([start] + stages.compactMap(\.self) + [save]).joined(separator: " | ")
            let file = docs.appendingPathComponent(picture)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(worker.render(sample, chain).bytes).write(to: file)
        }
        try draw(FilterBook.picture(nil))
        for filter in worker.hello.filters {
            let example = FilterBook.example(filter.name)
            try draw(FilterBook.picture(filter.name), example.after, example.stage)
        }
    }
}
