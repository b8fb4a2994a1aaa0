import Foundation
import Glibc
import PipelineModel
import SystemCalls
import WorkerProtocol

/// `try` runs one filter on one picture.
enum Trying {
    private static let formats = [
        "jpg": "jpeg", "jpeg": "jpeg", "png": "png", "webp": "webp", "tif": "tiff", "tiff": "tiff", "avif": "avif",
        "jxl": "jxl",
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        guard arguments.words.count >= 3, let plugin = arguments.words.first else {
            throw UsageError("try takes a plugin, values of its parameters, a picture, and a file for the result")
        }
        let (source, result) = (arguments.words[arguments.words.count - 2], arguments.words[arguments.words.count - 1])
        let suffix = FileSystem.name(of: result).split(separator: ".").last.map { $0.lowercased() } ?? ""
        guard let format = formats[suffix] else {
            throw UsageError(
                "'\(result)' must end in \(formats.keys.sorted().map { ".\($0)" }.joined(separator: ", "))")
        }
        let assignments = Array(arguments.words.dropFirst().dropLast(2))
        if let word = assignments.first(where: { !$0.contains("=") }) {
            throw UsageError("'\(word)' is not NAME=VALUE")
        }
        var arguments = arguments
        arguments.writesJXL = format == "jxl"
        let process = try FilterProcess(plugin, arguments, joins: arguments.joins)
        let stages = try FilterChain(filter: process.filter, assignments: assignments).stages(format: format)
        let picture = try Descriptor.open(source, O_RDONLY)
        // Write to another name first, so that the result appears whole or not at all.
        let made = "\(result).\(getpid())"
        defer { unlink(made) }
        let begun = ContinuousClock.now
        let outcome = try process.render(
            picture, name: source, stages, into: Descriptor.open(made, O_RDWR | O_CREAT | O_EXCL))
        let time = ContinuousClock.now - begun
        try FileSystem.rename(made, result)
        let report = Report(
            source: .init(
                width: outcome.header.width, height: outcome.header.height, read: outcome.header.decoderPaths.joined()),
            result: outcome.output, milliseconds: Int(time / .milliseconds(1)), memory: process.memory.most,
            said: process.lines.map { "\($0.filter ?? process.filter.name) says: \($0.text)" })
        guard !arguments.json else {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            print(String(decoding: try encoder.encode(report), as: UTF8.self))
            return EX_OK
        }
        for line in report.said { print(line) }
        print(
            """
            \(source): \(report.source.width) × \(report.source.height), read as \(report.source.read)
            \(result): \(report.result.width) × \(report.result.height), \(report.result.format), \(report.result.bytes) bytes
            \(process.filter.name) \(process.filter.version ?? ""): \(report.milliseconds) ms with reading and \
            writing, at most \(report.memory >> 20) MB of memory
            """)
        return EX_OK
    }

    private struct Report: Encodable {
        struct Source: Encodable {
            var width: Int
            var height: Int
            var read: String
        }

        var source: Source
        var result: RenderedOutput
        var milliseconds: Int
        var memory: Int
        var said: [String]
    }
}
