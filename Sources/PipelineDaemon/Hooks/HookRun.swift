import CLinux
import DaemonRuntime
import Dispatch
import Glibc
import PipelineModel
import SystemCalls

/// One run of a hook's program: the event on its standard input, what it says kept for the log.
///
/// `@unchecked`: it lives on the queue it was given.
final class HookRun: @unchecked Sendable {
    /// Bytes of output that are logged.
    private static let mostWords = 1000

    private let process: Int32
    private let exit: ReadySource
    private let timeout: DispatchWorkItem
    private let output: ProcessOutput
    private var said: [UInt8] = []
    private var timedOut = false

    /// Starts `program`. `ended` is called once, with what went wrong if something did.
    init(
        _ program: String, event: [UInt8], environment: [String], timeout: Duration, queue: DispatchQueue,
        ended: @escaping (String?) -> Void
    ) throws {
        let input = try Descriptor.memory(event)
        let (output, words) = try Descriptor.pair(type: Int32(SOCK_STREAM.rawValue))
        self.output = try ProcessOutput(output, queue: queue)
        let process = try ChildProgram.start(
            [program], environment: environment, streams: [input.number, words.number, words.number])
        self.process = process
        exit = ReadySource(Descriptor(owning: clinux_pidfd_open(process)), queue: queue)
        self.timeout = DispatchWorkItem { kill(-process, SIGKILL) }
        self.output.follow { [unowned self] in said += $0.prefix(Self.mostWords - said.count) }
        exit.activate { [self] in
            self.timeout.cancel()
            exit.cancel()
            self.output.end()
            ended(reap(timeout))
        }
        queue.asyncAfter(deadline: .now() + timeout.dispatch) { [weak self] in self?.giveUp() }
    }

    /// It, and whatever it has started, are ended.
    func giveUp() {
        guard !timeout.isCancelled else { return }
        timedOut = true
        timeout.perform()
    }

    private func reap(_ limit: Duration) -> String? {
        var status: Int32 = 0
        waitpid(process, &status, 0)
        if status == 0 { return nil }
        let words = String(decoding: said, as: UTF8.self).split(separator: "\n").joined(separator: " ")
        let how =
            if timedOut { "took longer than HookTimeout=\(limit.text), and was ended" } else if status & 0x7f == 0 {
                "ended with \(status >> 8 & 0xff)"
            } else { "was ended by signal \(status & 0x7f)" }
        return how + (words.isEmpty ? "" : ": \(words)")
    }
}
