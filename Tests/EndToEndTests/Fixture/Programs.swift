import Foundation
import TestTools

/// The programs that were built with the tests.
enum Programs {
    static let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    static func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    static func run(_ name: String, _ arguments: [String], environment: [String: String] = [:]) async throws -> Outcome
    {
        try await run(path: path(name), arguments, environment: environment)
    }

    static func run(path: String, _ arguments: [String], environment: [String: String] = [:]) async throws -> Outcome {
        let environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        return await (try ChildProcess(path, arguments, environment: environment)).outcome()
    }
}
