import Foundation
import Glibc
import PipelineModel
import SystemCalls
import WorkerProtocol

/// `--try`: one filter on one picture.
enum Trying {
    private static let formats = [
        "jpg": "jpeg", "jpeg": "jpeg", "png": "png", "webp": "webp", "tif": "tiff", "tiff": "tiff", "avif": "avif",
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        guard arguments.words.count >= 3, let plugin = arguments.words.first else {
            throw UsageError("--try takes a plugin, values of its parameters, a picture, and a file for the result")
        }
        let (source, result) = (arguments.words[arguments.words.count - 2], arguments.words[arguments.words.count - 1])
        let suffix = FileSystem.name(of: result).split(separator: ".").last.map { $0.lowercased() } ?? ""
        guard let format = formats[suffix] else {
            throw UsageError(
                "'\(result)' must end in \(formats.keys.sorted().map { ".\($0)" }.joined(separator: ", "))")
        }
        let assignments = Array(arguments.words.dropFirst().dropLast(2))
        if let word = assignments.first(where: { !$0.contains("=") }) {
            throw UsageError("'\(word)' is no NAME=VALUE")
        }
        let process = try FilterProcess(plugin, arguments, joins: arguments.joins)
        let stages = try FilterChain(filter: process.filter, assignments: assignments).stages(format: format)
        let picture = try Descriptor.open(source, O_RDONLY)
        // Whole or not at all.
        let made = "\(result).\(getpid())"
        defer { unlink(made) }
        let begun = ContinuousClock.now
        let outcome = try process.render(
            picture, name: source, stages, into: Descriptor.open(made, O_RDWR | O_CREAT | O_EXCL))
        let time = ContinuousClock.now - begun
        try FileSystem.rename(made, result)
        for line in process.lines { print("\(line.filter ?? process.filter.name) says: \(line.text)") }
        let (header, output) = (outcome.header, outcome.output)
        print(
            """
            \(source): \(header.width) × \(header.height), read as \(header.decoderPaths.joined())
            \(result): \(output.width) × \(output.height), \(output.format), \(output.bytes) bytes
            \(process.filter.name) \(process.filter.version ?? ""): \(Int(time / .milliseconds(1))) ms with reading and \
            writing, at most \(process.memory.most >> 20) MB of memory
            """)
        return EX_OK
    }
}
