import Foundation
import Synchronization

/// One run of `pipelined`.
final class DaemonProcess: Sendable {
    private let process: Unshared
    private let output = Mutex("")
    private let ended = Mutex<Int32?>(nil)
    private let changes = Mutex<[UUID: AsyncStream<Void>.Continuation]>([:])

    /// `@unchecked`: set up before it is shared; `Process` itself may be signalled from anywhere.
    private struct Unshared: @unchecked Sendable {
        let process = Process()
    }

    init(root: String, wrapper: [String] = []) throws {
        process = Unshared()
        let process = process.process
        let command = wrapper + [Programs.path("pipelined"), "--root", root]
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        let errors = Pipe()
        process.standardError = errors
        process.standardOutput = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        process.terminationHandler = { [self] process in
            let status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
            ended.withLock { $0 = status }
            tell()
        }
        try process.run()
        Thread.detachNewThread { [self] in
            while case let data = errors.fileHandleForReading.availableData, !data.isEmpty {
                output.withLock { $0 += String(decoding: data, as: UTF8.self) }
                tell()
            }
        }
    }

    var identifier: Int32 { process.process.processIdentifier }
    var log: String { output.withLock { $0 } }

    /// Waits until it says that it is ready; throws when it ends instead.
    func ready() async throws {
        try await until { $0.contains("is ready") }
    }

    /// Waits until its log satisfies `condition`.
    func until(_ condition: @escaping @Sendable (String) -> Bool) async throws {
        await follow { condition(self.log) || self.ended.withLock { $0 } != nil }
        guard condition(log) else { throw Ended(status: ended.withLock { $0 } ?? 0, log: log) }
    }

    func end(_ signal: Int32) async -> Int32 {
        Foundation.kill(identifier, signal)
        await follow { self.ended.withLock { $0 } != nil }
        return ended.withLock { $0 } ?? 0
    }

    func kill() {
        if ended.withLock({ $0 }) == nil { Foundation.kill(identifier, SIGKILL) }
    }

    private func tell() {
        for continuation in changes.withLock({ Array($0.values) }) { continuation.yield() }
    }

    private func follow(_ condition: () -> Bool) async {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let key = UUID()
        changes.withLock { $0[key] = continuation }
        defer { changes.withLock { $0[key] = nil } }
        continuation.yield()
        for await _ in stream where condition() { return }
    }

    struct Ended: Error, CustomStringConvertible {
        let status: Int32
        let log: String

        var description: String { "the daemon ended with \(status):\n\(log)" }
    }
}
