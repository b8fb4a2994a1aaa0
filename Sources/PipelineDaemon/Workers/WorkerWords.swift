import Dispatch
import Glibc
import SystemCalls

/// What a worker writes on its standard output and error, which nobody there should: a library, or a filter. So many lines in a while are
/// logged, and the rest is counted; a worker never waits for that to be read.
///
/// `@unchecked`: it lives on its worker's queue.
final class WorkerWords: @unchecked Sendable {
    private static let most = 20
    private static let pause = 10.0
    private static let longestLine = 400

    private let source: ReadySource
    private let descriptor: Descriptor
    private var worker: pid_t = 0
    private var rest: [UInt8] = []
    private var since = DispatchTime.now()
    private var logged = 0
    private var unsaid = 0

    init(_ descriptor: Descriptor, queue: DispatchQueue) throws(SystemError) {
        try descriptor.setNonblocking()
        self.descriptor = descriptor
        source = ReadySource(descriptor, queue: queue)
    }

    func follow(_ worker: pid_t) {
        self.worker = worker
        source.activate { [weak self] in self?.read() }
    }

    /// The worker has ended: its last words.
    func end() {
        read()
        if !rest.isEmpty { line(rest[...]) }
        rest = []
        source.cancel()
    }

    private func read() {
        var room = [UInt8](repeating: 0, count: 65536)
        while true {
            let got = uninterrupted { Glibc.read(descriptor.number, &room, room.count) }
            if got == 0 { source.cancel() }
            guard got > 0 else { return }
            rest += room.prefix(got)
            let lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            for whole in lines.dropLast() { line(whole) }
            // Of a line without end the beginning is enough.
            rest = Array((lines.last ?? []).prefix(Self.longestLine + 1))
        }
    }

    private func line(_ bytes: ArraySlice<UInt8>) {
        let now = DispatchTime.now()
        if Double(now.uptimeNanoseconds - since.uptimeNanoseconds) / 1e9 >= Self.pause {
            (since, logged) = (now, 0)
        }
        guard logged < Self.most else {
            unsaid += 1
            return
        }
        logged += 1
        let text = String(decoding: bytes.prefix(Self.longestLine), as: UTF8.self)
        let more = unsaid == 0 ? "" : " (\(unsaid) lines before this were left out)"
        unsaid = 0
        Log.notice("worker \(worker) writes: \(text)\(more)")
    }
}
