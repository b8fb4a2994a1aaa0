import CLinux
import DaemonRuntime
import Dispatch
import Glibc
import PipelineModel
import ServiceProgram
import SystemCalls

/// One run of a hook's program. The program reads the event from its standard input. If the program fails, its output
/// is included in the reported problem.
actor HookRun: QueueActor {
    /// Maximum bytes of the program's output in a reported problem.
    private static let mostWords = 1000

    nonisolated let executor: QueueExecutor
    private let process: Int32
    private let exit: ReadySource
    private let timeout: DispatchWorkItem
    private let output: ProcessOutput
    private var said: [UInt8] = []
    private var timedOut = false

    /// Starts `program`. When the program has ended, calls `ended` once: with nil if the program succeeded, and
    /// otherwise with the problem.
    init(
        _ program: String, event: [UInt8], environment: [String], timeout: Duration, on executor: QueueExecutor,
        ended: @escaping @Sendable (String?) -> Void
    ) throws {
        self.executor = executor
        let input = try Descriptor.memory(event)
        let (output, words) = try Descriptor.pair(type: Int32(SOCK_STREAM.rawValue))
        self.output = try ProcessOutput(output, on: executor)
        let process = try ChildProgram.startKept(
            [program], environment: environment, streams: [input.number, words.number, words.number])
        self.process = process
        exit = ReadySource(Descriptor(owning: clinux_pidfd_open(process)), queue: executor.queue)
        self.timeout = DispatchWorkItem { kill(process, SIGTERM) }
        assumeIsolated { $0.follow(timeout, ended) }
    }

    private func follow(_ limit: Duration, _ ended: @escaping @Sendable (String?) -> Void) {
        output.assumeIsolated {
            $0.follow { [unowned self] words in assumeIsolated { $0.hear(words) } }
        }
        exit.activate { [self] in assumeIsolated { ended($0.end(limit)) } }
        queue.asyncAfter(deadline: .now() + limit.dispatch) { [weak self] in self?.assumeIsolated { $0.giveUp() } }
    }

    private func hear(_ words: ArraySlice<UInt8>) { said += words.prefix(Self.mostWords - said.count) }

    private func end(_ limit: Duration) -> String? {
        timeout.cancel()
        exit.cancel()
        output.assumeIsolated { $0.end() }
        return reap(limit)
    }

    /// Terminates the program and all its descendants.
    func giveUp() {
        guard !timeout.isCancelled else { return }
        timedOut = true
        timeout.perform()
    }

    private func reap(_ limit: Duration) -> String? {
        var status: Int32 = 0
        waitpid(process, &status, 0)
        if status == 0 { return nil }
        // Joins the lines of the output, because a problem is shown in one line.
        let words = String(decoding: said, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let how =
            if timedOut { "took longer than HookTimeout=\(limit.text), and was ended" } else if status & 0x7f == 0 {
                "ended with \(status >> 8 & 0xff)"
            } else { "was ended by signal \(status & 0x7f)" }
        return how + (words.isEmpty ? "" : ": \(words)")
    }
}
