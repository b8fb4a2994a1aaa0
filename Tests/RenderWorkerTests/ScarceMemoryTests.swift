import Foundation
import PipelineModel
import TestTools
import Testing
import WorkerProtocol

/// Makes the allocations of pixels and tables fail, one after the other.
struct ScarceMemoryTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var chain: String
        var raw = RawPolicy.preview
        let picture: @Sendable () throws -> TemporaryFile

        init(
            _ name: String, _ chain: String, raw: RawPolicy = .preview,
            _ picture: @escaping @Sendable () throws -> TemporaryFile
        ) {
            (testDescription, self.chain, self.raw, self.picture) = ("\(name), \(chain)", chain, raw, picture)
        }
    }

    private static let pixels = Pixels.photographed(480, 320)

    private static func made(_ command: String, _ options: String...) throws -> TemporaryFile {
        try VipsTool.run(command, pixels.file(.png), options)
    }

    static let cases = [
        Case("a JPEG in planes", "resize scale=0.6") { try pixels.file(.jpeg) },
        Case("a JPEG", "resize width=200 | noir | blur | save format=png") { try pixels.file(.jpeg) },
        Case("a PNG to WebP", "resize width=200 | save format=webp") { try pixels.file(.png) },
        Case("a WebP in planes", "resize scale=0.6 | save format=webp") { try made("webpsave") },
        Case("a TIFF", "watermark text=mine | save format=tiff") { try made("tiffsave") },
        Case("an AVIF", "mono | save format=avif effort=0") {
            try made("heifsave", "--compression", "av1", "--effort", "0")
        },
        Case("a camera's file", "save", raw: .develop) { try DNG(pixels: pixels).file },
        Case("the preview of a camera's file", "save") {
            try DNG(pixels: pixels, preview: pixels.file(.jpeg).bytes).file
        },
        Case("an animation", "sepia | save format=gif pages=all") {
            try TemporaryFile(
                AnimatedGIF(width: 200, height: 150, frames: [.init(colour: 9), .init(colour: 99)]).bytes)
        },
    ]

    @Test("A worker without memory says so, or dies, and its later renders are correct", arguments: cases)
    func refused(_ trial: Case) throws {
        let source = try trial.picture()
        let scarce = try ScarceMemory()
        var worker = try WorkerProcess(under: scarce.wrapper)
        let wanted = try Self.render(source, trial, worker)
        let least = 4096
        let count = try scarce.refuse(0, ofAtLeast: least) { _ = try Self.render(source, trial, worker) }
        try #require(count > 0, "it takes no memory")
        var words: [String: Int] = [:]
        for number in stride(from: 1, through: count, by: max(1, count / Sweep.of(6, all: 24))) {
            do {
                _ = try scarce.refuse(number, ofAtLeast: least) { _ = try Self.render(source, trial, worker) }
                words["rendered", default: 0] += 1
            } catch let failure as WorkerFailure {
                words["\(failure)", default: 0] += 1
                // A failure is not transient if a camera file needs more memory than it declares, because a retry would
                // fail, too.
                let isAtFault = !failure.message.contains("memory") || failure.message.contains("than it says")
                #expect((failure.class == .transient) == !isAtFault, "\(failure)")
            } catch let end as Unexpected {
                words["\(end)", default: 0] += 1
                worker = try WorkerProcess(under: scarce.wrapper)
            }
            #expect(try Self.render(source, trial, worker) == wanted, "after allocation \(number) of \(count)")
        }
        print("\(trial.testDescription): \(words)")
    }

    private static func render(_ source: TemporaryFile, _ trial: Case, _ worker: WorkerProcess) throws -> [UInt8] {
        _ = try worker.open(source, trial.chain, raw: trial.raw)
        let result = try TemporaryFile()
        _ = try worker.render(into: result)
        return try result.bytes
    }
}
