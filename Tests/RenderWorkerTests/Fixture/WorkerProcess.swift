import CLinux
import Foundation
import Glibc
import PipelineModel
import Synchronization
import SystemCalls
import Testing
import WorkerProtocol

/// Runs the render worker that was built with the tests, and talks to it through a real socket.
final class WorkerProcess: Sendable {
    let channel: WorkerChannel
    let process: pid_t
    let hello: Hello
    private let trail: FilterTrail
    private let told = Mutex<[WorkerMessage]>([])
    private let given = Mutex<[String: [UInt8]]>([:])

    static let programs =
        environment["PIPELINED_PROGRAMS"].map { URL(fileURLWithPath: $0) }
        ?? URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()

    /// A command under which the worker is started: valgrind in `./run test --memory`.
    static let watch = environment["PIPELINED_WATCH"]?.split(separator: " ").map(String.init) ?? []

    private static let environment = ProcessInfo.processInfo.environment

    init(
        plugins: [String] = [WorkerProcess.programs.path], under wrapper: [String] = WorkerProcess.watch,
        _ options: String...
    ) throws {
        let (ours, theirs) = try Descriptor.pair(type: Int32(SOCK_SEQPACKET.rawValue))
        let program = Self.programs.appendingPathComponent("pipelined-render").path
        let environment = Self.environment.merging(WorkerMemory.environment) { $1 }
        let nothing = try Descriptor.open("/dev/null", O_RDONLY)
        process = try ChildProgram.start(
            wrapper + [program] + options + plugins, environment: environment.map { "\($0)=\($1)" },
            streams: [nothing.number, STDERR_FILENO, STDERR_FILENO, theirs.number])
        channel = WorkerChannel(ours)
        while true {
            let next = try channel.receive(WorkerMessage.self)
            switch next?.message {
            case .loading: continue
            case .hello(let hello):
                self.hello = hello
                trail = FilterTrail(reading: try #require(next?.descriptors.first))
            case let other: throw Unexpected("no hello: \(String(describing: other))")
            }
            break
        }
    }

    /// A description of how the process ended. The process is not reaped before `deinit`.
    private var ending: String {
        var end = siginfo_t()
        waitid(P_PID, id_t(process), &end, Int32(WEXITED) | Int32(WNOWAIT))
        return "\(end.si_code == CLD_EXITED ? "exit" : "signal") \(end._sifields._sigchld.si_status)"
    }

    deinit {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }

    /// Adds files that chains may name, as the daemon does with the files in the recipes' folder.
    func give(_ files: [String: [UInt8]]) { given.withLock { $0.merge(files) { $1 } } }

    func chain(_ text: String) throws -> [Stage] {
        let files = FilterFiles(digests: given.withLock { $0.mapValues(SHA256.hex) })
        return try Chain(parsing: text, catalog: StageCatalog(filters: hello.filters, files: files)).stages
    }

    /// Returns the files that the outputs need, as the worker expects them.
    private func files(for outputs: [RenderOutput]) throws -> [Descriptor] {
        let bytes = given.withLock { Dictionary($0.values.map { (SHA256.hex($0), $0) }) { $1 } }
        return try outputs.flatMap(\.stages).fileDigests.map { try Descriptor.memory(bytes[$0] ?? []) }
    }

    func ask(_ message: SupervisorMessage, _ descriptors: [Descriptor] = []) throws -> WorkerMessage {
        try channel.send(message, descriptors: descriptors)
        return try answer()
    }

    /// Returns the next answer. Collects the other messages that arrive before it.
    func answer() throws -> WorkerMessage {
        while true {
            let next = try message()
            switch next {
            case .said, .crashed: told.withLock { $0.append(next) }
            case .progress: break
            default: return next
            }
        }
    }

    /// Returns the next message of any kind.
    func message() throws -> WorkerMessage {
        // The timeout makes a hanging worker fail its own test instead of all tests.
        guard channel.isReady(within: .seconds(240)) else { throw Unexpected("the worker says nothing any more") }
        guard let (message, _) = try channel.receive(WorkerMessage.self) else {
            throw Unexpected("the worker is gone: \(ending); it said \(told.withLock { $0 })")
        }
        return message
    }

    /// The lines that filters have logged.
    var lines: [FilterLine] {
        told.withLock { $0 }.compactMap { if case .said(let line) = $0 { line } else { nil } }
    }

    /// The filters applied to the last picture; filters that share a table are grouped.
    var applied: [[String]] { trail.read().applied }

    var crash: CrashNote? {
        told.withLock { $0 }.lazy.compactMap { if case .crashed(let note) = $0 { note } else { nil } }.first
    }

    func open(
        _ file: TemporaryFile, name: String = "picture", _ chains: String..., maxPixels: Int64 = 268_000_000,
        maxTexts: Int64 = Settings.usualTexts, onTruncated: TruncatedPolicy = .fail, raw: RawPolicy = .preview
    ) throws -> PictureHeader {
        let outputs = try chains.map { RenderOutput(name: nil, stages: try chain($0)) }
        return try open(
            [file], name: name, outputs, maxPixels: maxPixels, maxTexts: maxTexts, onTruncated: onTruncated, raw: raw)
    }

    /// Opens a picture. For a picture that has passed a barrier, `files` also contains its original.
    func open(
        _ files: [TemporaryFile], name: String = "picture", _ outputs: [RenderOutput],
        maxPixels: Int64 = 268_000_000, maxTexts: Int64 = Settings.usualTexts, onTruncated: TruncatedPolicy = .fail,
        raw: RawPolicy = .preview
    ) throws -> PictureHeader {
        let request = OpenRequest(
            name: name, outputs: outputs, maxPixels: maxPixels, maxTexts: maxTexts, onTruncated: onTruncated, raw: raw)
        switch try ask(.open(request), files.map { try $0.reopened() } + self.files(for: outputs)) {
        case .opened(let header): return header
        case .failed(let failure): throw failure
        case let other: throw Unexpected("\(other)")
        }
    }

    func render(into files: TemporaryFile...) throws -> [RenderedOutput] { try render(into: files) }

    func render(into files: [TemporaryFile]) throws -> [RenderedOutput] {
        switch try ask(.render, files.map { try $0.reopened(O_RDWR) }) {
        case .rendered(let outputs): return outputs
        case .failed(let failure): throw failure
        case let other: throw Unexpected("\(other)")
        }
    }

    func render(
        _ source: TemporaryFile, _ chain: String, onTruncated: TruncatedPolicy = .fail
    ) throws -> TemporaryFile {
        _ = try open(source, chain, onTruncated: onTruncated)
        let result = try TemporaryFile()
        _ = try render(into: result)
        return result
    }

    func render(_ source: TemporaryFile, _ chains: [String]) throws -> [TemporaryFile] {
        let outputs = try chains.map { RenderOutput(name: nil, stages: try chain($0)) }
        _ = try open([source], outputs)
        let files = try chains.map { _ in try TemporaryFile() }
        switch try ask(.render, files.map { try $0.reopened(O_RDWR) }) {
        case .rendered(let results) where results.count == chains.count: return files
        case .failed(let failure): throw failure
        case let other: throw Unexpected("\(other)")
        }
    }

    func failure(_ source: TemporaryFile, name: String = "picture", _ chain: String) throws -> WorkerFailure {
        do {
            _ = try open(source, name: name, chain)
            _ = try render(into: TemporaryFile())
        } catch let failure as WorkerFailure {
            return failure
        }
        throw Unexpected("it went well")
    }

    /// Limits the worker's memory, as the daemon does with the estimate from the header.
    func limitMemory(_ bytes: UInt64) {
        #expect(clinux_limit(process, Int32(RLIMIT_DATA.rawValue), bytes) == 0)
    }

    /// Waits for the process to exit; returns its exit status or the signal that killed it.
    func ended() -> Int32 {
        var status: Int32 = 0
        waitpid(process, &status, 0)
        return status
    }

    /// Peak memory use in bytes.
    var peak: Int64 { get throws { try status("VmHWM") } }

    /// The memory in use that counts towards the limit, in bytes.
    var data: Int64 { get throws { try status("VmData") } }

    private func status(_ name: String) throws -> Int64 {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return try #require(line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int64($0) }) * 1024
    }

    var descriptorCount: Int {
        get throws { try FileSystem.names(in: "/proc/\(process)/fd").count }
    }
}

struct Unexpected: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
