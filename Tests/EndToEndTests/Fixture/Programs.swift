import Foundation

/// The programs that were built with the tests.
enum Programs {
    static let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    static func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    /// Runs a program to its end.
    static func run(_ name: String, _ arguments: [String], environment: [String: String] = [:]) async throws -> Outcome
    {
        try await run(path: path(name), arguments, environment: environment)
    }

    static func run(path: String, _ arguments: [String], environment: [String: String] = [:]) async throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        let ended = AsyncStream<Int32>.makeStream()
        process.terminationHandler = {
            ended.continuation.yield($0.terminationStatus)
            ended.continuation.finish()
        }
        try process.run()
        async let out = read(output)
        async let err = read(errors)
        var status: Int32 = -1
        for await code in ended.stream { status = code }
        return await Outcome(status: status, output: out, errors: err)
    }

    /// Reads to the end on a thread of its own: waiting for a pipe must not hold up other tests.
    private static func read(_ pipe: Pipe) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let data = pipe.fileHandleForReading.readDataToEndOfFile()
                continuation.resume(returning: String(decoding: data, as: UTF8.self))
            }
        }
    }
}

/// What a program said, and how it ended.
struct Outcome: Sendable {
    var status: Int32
    var output: String
    var errors: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }
}
