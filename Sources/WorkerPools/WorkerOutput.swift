import DaemonRuntime
import Dispatch
import Glibc
import ServiceProgram
import SystemCalls

/// Logs the output of libraries and filters on a worker's stdout and stderr. Libraries and filters should write nothing
/// there. Logs at most `most` lines in `pause` seconds, and counts the other lines.
@Coordination
final class WorkerOutput {
    private static let most = 20
    private static let pause = 10.0
    private static let longestLine = 400

    private let source: ProcessOutput
    private var worker: pid_t = 0
    /// The unfinished line, truncated to `longestLine`.
    private var rest: [UInt8] = []
    private var since = DispatchTime.now()
    private var logged = 0
    private var leftOut = 0

    init(_ descriptor: Descriptor) throws(SystemError) {
        source = try ProcessOutput(descriptor, on: Coordination.executor)
    }

    func follow(_ worker: pid_t) {
        self.worker = worker
        source.assumeIsolated {
            $0.follow { [unowned self] bytes in Coordination.assumeIsolated { hear(bytes) } }
        }
    }

    /// Logs the remaining output after the worker has ended.
    func end() {
        source.assumeIsolated { $0.end() }
        if !rest.isEmpty { line() }
    }

    private func hear(_ bytes: ArraySlice<UInt8>) {
        var left = bytes
        while let end = left.firstIndex(of: UInt8(ascii: "\n")) {
            add(left[..<end])
            line()
            left = left[(end + 1)...]
        }
        add(left)
    }

    /// Appends to the unfinished line. Keeps only the start of a long line.
    private func add(_ bytes: ArraySlice<UInt8>) { rest += bytes.prefix(Self.longestLine - rest.count) }

    private func line() {
        defer { rest.removeAll(keepingCapacity: true) }
        let now = DispatchTime.now()
        if Double(now.uptimeNanoseconds - since.uptimeNanoseconds) / 1e9 >= Self.pause {
            (since, logged) = (now, 0)
        }
        guard logged < Self.most else {
            leftOut += 1
            return
        }
        logged += 1
        let more = leftOut == 0 ? "" : " (\(leftOut) lines before this were left out)"
        leftOut = 0
        Log.notice("worker \(worker) writes: \(String(decoding: rest, as: UTF8.self))\(more)")
    }
}
