import DaemonRuntime
import Dispatch
import Glibc
import SystemCalls

/// What a worker writes on its standard output and error, which nobody there should: a library, or a filter. So many lines in a while are
/// logged, and the rest is counted.
@Coordination
final class WorkerWords {
    private static let most = 20
    private static let pause = 10.0
    private static let longestLine = 400

    private let output: ProcessOutput
    private var worker: pid_t = 0
    /// The unfinished line, up to the longest that is logged.
    private var rest: [UInt8] = []
    private var since = DispatchTime.now()
    private var logged = 0
    private var unsaid = 0

    init(_ descriptor: Descriptor) throws(SystemError) {
        output = try ProcessOutput(descriptor, on: Coordination.executor)
    }

    func follow(_ worker: pid_t) {
        self.worker = worker
        output.assumeIsolated {
            $0.follow { [unowned self] bytes in Coordination.assumeIsolated { hear(bytes) } }
        }
    }

    /// The worker has ended: its last words.
    func end() {
        output.assumeIsolated { $0.end() }
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

    /// Keeps the beginning of a long line.
    private func add(_ bytes: ArraySlice<UInt8>) { rest += bytes.prefix(Self.longestLine - rest.count) }

    private func line() {
        defer { rest.removeAll(keepingCapacity: true) }
        let now = DispatchTime.now()
        if Double(now.uptimeNanoseconds - since.uptimeNanoseconds) / 1e9 >= Self.pause {
            (since, logged) = (now, 0)
        }
        guard logged < Self.most else {
            unsaid += 1
            return
        }
        logged += 1
        let more = unsaid == 0 ? "" : " (\(unsaid) lines before this were left out)"
        unsaid = 0
        Log.notice("worker \(worker) writes: \(String(decoding: rest, as: UTF8.self))\(more)")
    }
}
