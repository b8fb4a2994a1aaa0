import Foundation
import Glibc
import SystemCalls
import Testing

/// The real pipectl, run to its end.
struct Outcome: Sendable {
    var code: Int32
    var output: String
    var errors: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// The one document on standard output.
    func document() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    }

    /// One document a line.
    func objects() throws -> [[String: Any]] {
        try lines.map { try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]) }
    }
}

enum Pipectl {
    /// Beside the test's own program, where the build puts it.
    static let program: URL = {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("pipectl")
    }()

    static func process(_ words: [String], socket: String?, environment: [String: String] = [:]) -> Process {
        let process = Process()
        process.executableURL = program
        process.arguments = words
        var variables = ["PATH": "/usr/bin:/bin", "TZ": "UTC", "TERM": "xterm"]
        if let socket { variables["PIPELINED_SOCKET"] = socket }
        process.environment = variables.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        return process
    }

    static func run(
        _ words: String..., at daemon: CannedDaemon? = nil, environment: [String: String] = [:]
    ) async throws -> Outcome {
        try await run(words, at: daemon, environment: environment)
    }

    static func run(
        _ words: [String], at daemon: CannedDaemon? = nil, environment: [String: String] = [:]
    ) async throws -> Outcome {
        let process = process(words, socket: daemon?.path, environment: environment)
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        return try await onThread {
            try process.run()
            let said = output.fileHandleForReading.readDataToEndOfFile()
            let complained = errors.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            let status = process.terminationStatus
            return Outcome(
                // A signal's number is no exit code.
                code: process.terminationReason == .exit ? status : -status,
                output: String(decoding: said, as: UTF8.self),
                errors: String(decoding: complained, as: UTF8.self))
        }
    }
}

/// Blocking work, off the threads that the tests share.
func onThread<Result: Sendable>(_ body: sending @escaping () throws -> Result) async throws -> Result {
    nonisolated(unsafe) let body = body
    return try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(with: Swift.Result { try body() })
        }
    }
}
