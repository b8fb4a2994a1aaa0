import CLinux
public import Foundation
import Glibc
import Synchronization
public import SystemCalls

/// A program that a test runs. Its output arrives through close-on-exec sockets. If it arrived through a pipe, another
/// child would inherit the pipe and keep it open, so the reader would wait for that child as well.
///
/// If an awaited event does not occur within `patience`, the program is killed, which ends every wait for it.
public final class ChildProcess: Sendable {
    private struct State {
        var output = Data()
        var errors = Data()
        var status: Int32?
        var givenUp = false
        var followers: [UUID: AsyncStream<Void>.Continuation] = [:]
    }

    /// A timeout, far longer than any program runs on the busiest machine.
    public static let patience = Duration.seconds(600)

    public let identifier: Int32
    private let state = Mutex(State())
    private let over = DispatchGroup()

    /// Starts the program and collects its output, unless `output` redirects it. The descriptors in `passed` are
    /// inherited as numbers 3 and up.
    public init(
        _ path: String, _ arguments: [String] = [], environment: [String: String] = ProcessInfo.processInfo.environment,
        input: String = "/dev/null", output: Descriptor? = nil, passed: [Descriptor] = []
    ) throws {
        let input = try Descriptor.open(input, O_RDONLY)
        let (reading, writing) = try Descriptor.pair(type: Int32(SOCK_STREAM.rawValue))
        let (readingErrors, writingErrors) = try Descriptor.pair(type: Int32(SOCK_STREAM.rawValue))
        // The child inherits no other descriptor. An inherited one could keep a file open for writing after another
        // test has closed it.
        let streams = [input, output ?? writing, writingErrors] + passed
        identifier = try withExtendedLifetime(streams) {
            try ChildProgram.start(
                [path] + arguments, environment: environment.map { "\($0.key)=\($0.value)" },
                streams: streams.map(\.number))
        }
        over.enter()
        Thread.detachNewThread { [self] in
            follow([reading, readingErrors])
            over.leave()
        }
    }

    public var output: String { state.withLock { String(decoding: $0.output, as: UTF8.self) } }
    public var errors: String { state.withLock { String(decoding: $0.errors, as: UTF8.self) } }
    /// The exit status, or the negative number of the signal that killed it; nil while it runs.
    public var status: Int32? { state.withLock { $0.status } }

    public func signal(_ number: Int32) {
        state.withLock { if $0.status == nil { kill(identifier, number) } }
    }

    /// The numbers of its open descriptors.
    public var descriptors: [Int] { Self.descriptors(of: identifier) }

    public static func descriptors(of process: Int32) -> [Int] {
        ((try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")) ?? []).compactMap { Int($0) }
    }

    /// Returns when `condition` holds. Checks it whenever the program writes output or exits.
    public func until(_ condition: () -> Bool) async {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        let key = UUID()
        state.withLock { $0.followers[key] = continuation }
        defer { state.withLock { $0.followers[key] = nil } }
        continuation.yield()
        for await _ in stream where condition() { return }
    }

    /// Waits for the program to exit; returns its status and all its output.
    public func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            over.notify(queue: .global()) { continuation.resume() }
        }
        return Outcome(status: status ?? 0, output: output, errors: errors)
    }

    /// Like `outcome()`, for synchronous tests.
    public func wait() -> Outcome {
        over.wait()
        return Outcome(status: status ?? 0, output: output, errors: errors)
    }

    // MARK: - Following thread

    /// Reads both streams to EOF and waits for the process to exit. One `poll` watches all three descriptors, so that
    /// none blocks the others.
    private func follow(_ streams: [Descriptor]) {
        let process = Descriptor(owning: clinux_pidfd_open(identifier))
        var open = (streams + [process]).map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
        let end = ContinuousClock.now + Self.patience
        while open.contains(where: { $0.fd >= 0 }) {
            let left = end - .now
            if left < .zero { giveUp() }
            guard poll(&open, nfds_t(open.count), Int32(max(1, left / .milliseconds(1)))) > 0 else { continue }
            for index in open.indices where open[index].revents != 0 {
                let goesOn = index < streams.count ? read(streams[index], isOutput: index == 0) : reap()
                if !goesOn { open[index].fd = -1 }
            }
            for follower in state.withLock({ Array($0.followers.values) }) { follower.yield() }
        }
    }

    private func giveUp() {
        state.withLock { state in
            guard !state.givenUp else { return }
            state.givenUp = true
            state.errors.append(contentsOf: "killed by the test: it ran for \(Self.patience)\n".utf8)
        }
        signal(SIGKILL)
    }

    private func read(_ stream: Descriptor, isOutput: Bool) -> Bool {
        var room = [UInt8](repeating: 0, count: 65536)
        let got = Glibc.read(stream.number, &room, room.count)
        guard got > 0 else { return got < 0 && errno == EINTR }
        state.withLock {
            isOutput ? $0.output.append(contentsOf: room[..<got]) : $0.errors.append(contentsOf: room[..<got])
        }
        return true
    }

    private func reap() -> Bool {
        state.withLock { state in
            var status: Int32 = 0
            waitpid(identifier, &status, 0)
            state.status = status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
        }
        return false
    }
}

/// The exit status and the output of a program.
public struct Outcome: Sendable {
    /// The exit status, or the negative number of the signal that killed it.
    public var status: Int32
    public var output: String
    public var errors: String

    public var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// Returns the single JSON document on standard output.
    public func document() throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] ?? [:]
    }

    /// Returns the JSON documents on standard output, one per line.
    public func objects() throws -> [[String: Any]] {
        try lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:] }
    }
}
