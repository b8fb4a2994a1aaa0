import CLinux
import Foundation
import Glibc
import PipelineModel
import SystemCalls
import WorkerProtocol

/// A worker that is started as the daemon starts its workers, but with a single plugin, to test that plugin for its
/// author.
final class FilterProcess {
    let filter: StageDescription
    let missing: [String]
    /// Lines that the filter has logged.
    private(set) var lines: [FilterLine] = []
    private let channel: WorkerChannel
    private let process: pid_t
    private let trail: FilterTrail?
    private var status: Int32?
    private var crash: CrashNote?

    /// Records whether the filter has hung in any of its workers.
    final class Hang {
        fileprivate(set) var isSeen = false
    }

    let hang: Hang
    /// Timeout for one picture, and for loading.
    private let patience: Duration

    /// If `joins` is false, the worker makes no lookup tables. If `trait` is given, the worker handles filters as if
    /// they lacked this trait.
    init(
        _ plugin: String, _ arguments: Arguments, joins: Bool = true, without trait: StageTrait? = nil,
        hang: Hang = Hang()
    ) throws {
        (self.hang, patience) = (hang, arguments.patience)
        let options =
            ["--name-calls"] + arguments.resources.flatMap { ["--resources", $0] } + (joins ? [] : ["--apart"])
            + (trait.map { ["--withdraw", $0.rawValue] } ?? []) + (arguments.writesJXL ? ["--jxl"] : [])
        (process, channel) = try Self.start(options + [plugin])
        do {
            let (hello, trail) = try Self.hello(channel, within: patience)
            self.trail = trail
            guard let filter = hello.filters.first else {
                throw FilterTrouble(hello.skipped.first?.reason ?? "it contains no filter")
            }
            (self.filter, missing) = (filter, hello.missing)
        } catch {
            kill(process, SIGKILL)
            var status: Int32 = 0
            waitpid(process, &status, 0)
            throw (error as? FilterTrouble).map { FilterTrouble("\(plugin) is not a filter: \($0.description)") }
                ?? error
        }
    }

    deinit {
        if status == nil { end() }
    }

    /// Starts a worker. Only the worker gets the other end of the channel, so that the channel closes when the worker
    /// ends.
    private static func start(_ words: [String]) throws -> (pid_t, WorkerChannel) {
        guard let worker = InstalledProgram.worker("pipelined-render") else {
            throw FilterTrouble("pipelined-render is not beside this program in \(InstalledProgram.folder)")
        }
        let (ours, theirs) = try Descriptor.pair(type: Int32(SOCK_SEQPACKET.rawValue))
        let nothing = try Descriptor.open("/dev/null", O_RDONLY)
        // Turn off Swift's own backtrace of a crash, because it would start a program from inside the confinement.
        let own = WorkerMemory.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        let environment = ProcessInfo.processInfo.environment.merging(own) { $1 }
        let process = try ChildProgram.start(
            [worker] + words, environment: environment.map { "\($0)=\($1)" },
            streams: [nothing.number, STDERR_FILENO, STDERR_FILENO, theirs.number])
        return (process, WorkerChannel(ours))
    }

    private static func hello(_ channel: WorkerChannel, within patience: Duration) throws -> (Hello, FilterTrail?) {
        while true {
            guard channel.isReady(within: patience) else {
                throw FilterTrouble("it had not loaded after \(patience.text)")
            }
            let next = try channel.receive(WorkerMessage.self)
            switch next?.message {
            case .hello(let hello): return (hello, next?.descriptors.first.map(FilterTrail.init(reading:)))
            case nil: throw FilterTrouble("the process that loads it exits")
            default: continue
            }
        }
    }

    // MARK: - Pictures

    struct Made {
        var header: PictureHeader
        var output: RenderedOutput
    }

    /// Sends a picture through stages, which end with `save`, into `target`.
    func render(
        _ source: Descriptor, name: String = "picture", _ stages: [Stage], into target: Descriptor
    ) throws -> Made {
        let header = try open(source, name: name, stages)
        try channel.send(SupervisorMessage.render, descriptors: [target])
        switch try answer() {
        case .rendered(let outputs):
            guard let output = outputs.first else { throw FilterTrouble("the worker made no result") }
            return Made(header: header, output: output)
        case .failed(let failure): throw FilterTrouble(failure)
        default: throw FilterTrouble("the worker sent an unexpected answer")
        }
    }

    /// The moment at which a job is cancelled: while a filter's function runs, or after it has returned.
    enum Moment { case applying, applied }

    /// Starts a render and cancels it. Returns how long the worker took to stop, minus the longest time that one of its
    /// threads waited for a processor.
    func cancel(
        _ source: Descriptor, _ stages: [Stage], into target: Descriptor, when moment: Moment
    ) throws -> Duration {
        _ = try open(source, name: "picture", stages)
        try channel.send(SupervisorMessage.render, descriptors: [target])
        let end = ContinuousClock.now + patience
        // The worker sends no message when the filter reaches `moment`. It only writes to the trail, which is shared
        // memory and raises no event. So poll the trail. A millisecond is short compared with the filter's work on the
        // huge picture.
        while !channel.isReady(within: .milliseconds(1)), !has(reached: moment), .now < end {}
        let (begun, before) = (ContinuousClock.now, waits)
        var after = before
        try? channel.send(SupervisorMessage.cancel)
        while true {
            // Keep the waiting times of threads that end before the worker answers.
            while !channel.isReady(within: .milliseconds(20)), .now < end { after.merge(waits) { $1 } }
            guard let message = try next() else { throw lost() }
            switch message {
            case .cancelled, .rendered:
                let waited = after.map { $0.value - (before[$0.key] ?? 0) }.max() ?? 0
                return .now - begun - .nanoseconds(waited)
            case .failed(let failure): throw FilterTrouble(failure)
            default: continue
            }
        }
    }

    private func has(reached moment: Moment) -> Bool {
        guard let (applied, running) = trail?.read() else { return true }
        return !applied.isEmpty || moment == .applying && !running.isEmpty
    }

    private func open(_ source: Descriptor, name: String, _ stages: [Stage]) throws -> PictureHeader {
        let output = RenderOutput(name: nil, stages: stages)
        try channel.send(
            SupervisorMessage.open(OpenRequest(name: name, outputs: [output], maxPixels: Settings().maxPixels)),
            descriptors: [source] + GivenFiles.bytes(for: stages))
        switch try answer() {
        case .opened(let header):
            _ = clinux_limit(
                process, Int32(RLIMIT_DATA.rawValue), UInt64(PictureHeader.memoryLimit(header.memory)))
            return header
        case .failed(let failure): throw FilterTrouble(failure)
        default: throw FilterTrouble("the worker sent an unexpected answer")
        }
    }

    private func answer() throws -> WorkerMessage {
        while let message = try next() {
            switch message {
            case .progress: continue
            default: return message
            }
        }
        throw lost()
    }

    /// Reaps the process, and describes how it ended.
    private func lost() -> FilterTrouble {
        end()
        let (status, signal) = (status ?? 0, (status ?? 0) & 0x7f)
        let how =
            signal == 0
            ? "the process ended with status \(status >> 8 & 0xff)" : String(cString: strsignal(signal))
        let memory = crash?.isOutOfMemory == true ? ", after it had used all the memory that it may use" : ""
        return FilterTrouble("it took its worker down: \(how)\(memory)")
    }

    /// The next message that is neither a log line nor a crash note; nil when the process has ended.
    private func next() throws -> WorkerMessage? {
        while true {
            guard channel.isReady(within: patience) else {
                end()
                hang.isSeen = true
                throw FilterTrouble("it does not finish: it was stopped after \(patience.text)")
            }
            switch try? channel.receive(WorkerMessage.self)?.message {
            case .said(let line): lines.append(line)
            case .crashed(let note): crash = note
            case let message: return message
            }
        }
    }

    private func end() {
        guard status == nil else { return }
        kill(process, SIGKILL)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        self.status = status
    }

    /// Whether the worker can render another picture.
    var isAlive: Bool { status == nil }

    /// Nanoseconds for which each of the worker's threads was ready to run but had no processor.
    private var waits: [String: Int] {
        let threads = (try? FileSystem.names(in: "/proc/\(process)/task")) ?? []
        return threads.reduce(into: [:]) { waits, thread in
            let text = try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/schedstat", encoding: .utf8)
            waits[thread] = text?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        }
    }

    // MARK: - Memory

    var descriptors: Int { ((try? FileSystem.names(in: "/proc/\(process)/fd"))?.count ?? 0) }

    /// Resident memory in bytes, now and at its peak.
    var memory: (now: Int, most: Int) {
        let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
        func bytes(_ key: String) -> Int {
            let line = text.split(separator: "\n").first { $0.hasPrefix(key) }
            return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
        }
        return (bytes("VmRSS:"), bytes("VmHWM:"))
    }
}

/// A filter's problem, in words for its author.
struct FilterTrouble: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    init(_ failure: WorkerFailure) {
        let advice = failure.stage == WorkerFailure.confinement ? failure.advice.map { " (\($0))" } ?? "" : ""
        description = "\(failure.stage): \(failure.message)\(advice)"
    }
}
