import Foundation
import Glibc
import PipelineModel
import SystemCalls
import Testing
import WorkerProtocol

/// Runs the fetch worker that was built with the tests, and talks to it through a real socket.
final class FetchProcess {
    let channel: WorkerChannel
    let process: pid_t
    let missing: [String]
    private var next = 1
    private var answers: [Int: Answer] = [:]
    private(set) var progress: [Int: Int64] = [:]
    private(set) var kept: [Int: FetchResume] = [:]

    enum Answer: Sendable {
        case done(FetchedFile)
        case failed(FetchFailure)
        case cancelled
    }

    static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("pipelined-fetch").path

    init(environment: [String] = []) throws {
        let (ours, theirs) = try Descriptor.pair(type: Int32(SOCK_SEQPACKET.rawValue))
        let nothing = try Descriptor.open("/dev/null", O_RDONLY)
        process = try ChildProgram.start(
            [Self.program],
            environment: environment + ["SWIFT_BACKTRACE=enable=no", "LD_LIBRARY_PATH=\(Self.libraries)"],
            streams: [nothing.number, STDERR_FILENO, STDERR_FILENO, theirs.number])
        channel = WorkerChannel(ours)
        guard case .hello(_, let missing) = try channel.receive(FetchMessage.self)?.message else {
            throw Unexpected("no hello")
        }
        self.missing = missing
    }

    deinit {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }

    private static var libraries: String { getenv("LD_LIBRARY_PATH").map { String(cString: $0) } ?? "" }

    /// Returns limits that allow connections to 127.0.0.1, the address of the test's server. That address is otherwise
    /// refused as private.
    static func limits(_ change: (inout FetchLimits) -> Void = { _ in }) -> FetchLimits {
        var limits = FetchLimits(allowPrivateHosts: ["127.0.0.1"])
        change(&limits)
        return limits
    }

    func begin(
        _ url: String, into file: StagingFile, _ limits: FetchLimits = FetchProcess.limits(),
        resume: FetchResume? = nil, login: FetchLogin? = nil
    ) throws -> Int {
        defer { next += 1 }
        try channel.send(
            FetchOrder.fetch(FetchRequest(id: next, url: url, resume: resume, limits: limits, login: login)),
            descriptors: [try file.opened()])
        return next
    }

    func cancel(_ id: Int) throws { try channel.send(FetchOrder.cancel(id)) }

    func end(_ id: Int) throws -> Answer {
        while true {
            if let answer = answers.removeValue(forKey: id) { return answer }
            try hear()
        }
    }

    /// Waits until the transfer has received at least `bytes` bytes.
    func until(_ id: Int, has bytes: Int64) throws {
        while progress[id, default: 0] < bytes {
            if let answer = answers[id] { throw Unexpected("it has ended: \(answer)") }
            try hear()
        }
    }

    private func hear() throws {
        guard let (message, _) = try channel.receive(FetchMessage.self) else { throw Unexpected("the worker is gone") }
        switch message {
        case .hello: break
        case .progress(let id, let received, _, let kept): (progress[id], self.kept[id]) = (received, kept)
        case .done(let id, let file): answers[id] = .done(file)
        case .failed(let id, let failure): answers[id] = .failed(failure)
        case .cancelled(let id): answers[id] = .cancelled
        }
    }

    func fetch(
        _ url: String, into file: StagingFile, _ limits: FetchLimits = FetchProcess.limits(),
        resume: FetchResume? = nil, login: FetchLogin? = nil
    ) throws -> FetchedFile {
        switch try end(begin(url, into: file, limits, resume: resume, login: login)) {
        case .done(let fetched): return fetched
        case .failed(let failure): throw failure
        case .cancelled: throw Unexpected("it was cancelled")
        }
    }

    /// Downloads the URL, which must fail; returns the error.
    func failure(
        at url: String, _ limits: FetchLimits = FetchProcess.limits(), into file: StagingFile? = nil,
        resume: FetchResume? = nil, login: FetchLogin? = nil
    ) throws -> FetchFailure {
        switch try end(begin(url, into: file ?? StagingFile(), limits, resume: resume, login: login)) {
        case .failed(let failure): return failure
        case let other: throw Unexpected("\(other)")
        }
    }
}

final class StagingFile {
    private let path = NSTemporaryDirectory() + "/pipelined-test-\(UUID().uuidString)"

    init(_ content: Data = Data()) throws { try content.write(to: URL(fileURLWithPath: path)) }

    deinit { unlink(path) }

    func opened() throws -> Descriptor { try Descriptor.open(path, O_WRONLY) }

    var content: Data {
        get throws { try Data(contentsOf: URL(fileURLWithPath: path)) }
    }
}

struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
