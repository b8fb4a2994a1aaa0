import Foundation
import SystemCalls
import TestTools

final class DaemonProcess: Sendable {
    private let child: ChildProcess

    init(root: String, wrapper: [String] = [], passed: [Descriptor] = []) throws {
        let command = wrapper + [Programs.path("pipelined"), "--root", root]
        child = try ChildProcess(command[0], Array(command.dropFirst()), passed: passed)
    }

    var identifier: Int32 { child.identifier }
    var isRunning: Bool { child.status == nil }
    var log: String { child.errors }

    /// Waits until the daemon reports that it is ready; throws if it exits instead.
    func ready() async throws {
        try await until { $0.contains("is ready") }
    }

    /// Waits until the daemon's log satisfies `condition`.
    func until(_ condition: @escaping @Sendable (String) -> Bool) async throws {
        await child.until { condition(child.errors) || child.status != nil }
        guard condition(log) else { throw Ended(status: child.status ?? 0, log: log) }
    }

    func end(_ signal: Int32) async -> Int32 {
        child.signal(signal)
        await child.until { child.status != nil }
        return child.status ?? 0
    }

    func kill() { child.signal(SIGKILL) }

    struct Ended: Error, CustomStringConvertible {
        let status: Int32
        let log: String

        var description: String { "the daemon ended with \(status):\n\(log)" }
    }
}
