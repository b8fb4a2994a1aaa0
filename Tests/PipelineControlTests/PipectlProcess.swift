import Foundation
import SystemCalls
import TestTools

enum Pipectl {
    /// pipectl's path. The build puts pipectl into the folder of the test program.
    static let program: String = {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: own).deletingLastPathComponent().appendingPathComponent("pipectl").path
    }()

    static func start(
        _ words: [String], at daemon: CannedDaemon?, environment: [String: String] = [:], output: Descriptor? = nil
    ) throws -> ChildProcess {
        var variables = ["PATH": "/usr/bin:/bin", "TZ": "UTC", "TERM": "xterm"]
        variables["PIPELINED_SOCKET"] = daemon?.path
        variables.merge(environment) { $1 }
        return try ChildProcess(program, words, environment: variables, output: output)
    }

    static func run(
        _ words: String..., at daemon: CannedDaemon? = nil, environment: [String: String] = [:]
    ) async throws -> Outcome {
        try await run(words, at: daemon, environment: environment)
    }

    static func run(
        _ words: [String], at daemon: CannedDaemon? = nil, environment: [String: String] = [:],
        output: Descriptor? = nil
    ) async throws -> Outcome {
        await (try start(words, at: daemon, environment: environment, output: output)).outcome()
    }
}
