package import Dispatch
import ServiceProgram
import Synchronization

/// A queue of work that may block on a disk, with a maximum number of threads. The threads exist only while there is
/// work, so an idle lane costs nothing.
package final class FileLane: Sendable {
    package typealias Work = @Sendable () -> Void

    /// The lane's queue is full.
    package struct Full: Error, CustomStringConvertible {
        package var waiting: Int

        package var description: String {
            "its disk does not answer, or not fast enough: \(waiting) requests wait for it already; ask again later "
                + "(`pipectl status` names a disk that hangs)"
        }
    }

    /// The disk has not answered in time.
    package struct Silence: Error, CustomStringConvertible {
        package var description: String { "its disk does not answer" }
    }

    /// A queued request, which can be withdrawn until its work begins.
    package struct Place: Sendable {
        fileprivate let lane: FileLane
        fileprivate let number: Int

        /// Withdraws the request. Returns false if its work has already begun.
        @discardableResult
        package func withdraw() -> Bool { lane.withdraw(number) }
    }

    private struct State {
        var threads = 0
        var last = 0
        /// Oldest first.
        var waiting: [(number: Int, work: Work)] = []
        var running: [Int: DispatchTime] = [:]
    }

    private let threads: Int
    private let room: Int
    private let state = Mutex(State())

    /// Maximum threads of all lanes together. A lane's first thread is started even above this limit. libdispatch has
    /// 255 threads, and needs some for the coordination queue, the ledger and the control socket.
    private static let most = 128
    private static let total = Atomic(0)

    /// `room` is the maximum number of requests that wait for a thread.
    package init(threads: Int, room: Int = 0) { (self.threads, self.room) = (threads, room) }

    /// Queues the daemon's own work. Never refuses work, because the callers have limits of their own.
    package func async(_ work: @escaping Work) { begin(state.withLock { add(work, to: &$0) }.isNew) }

    /// Queues a client's work; throws if the queue is full.
    package func take(_ work: @escaping Work) throws(Full) -> Place {
        let added: (number: Int, isNew: Bool)? = state.withLock { state in
            if state.running.count + state.waiting.count >= threads + room { return nil }
            return add(work, to: &state)
        }
        guard let added else { throw Full(waiting: room) }
        begin(added.isNew)
        return Place(lane: self, number: added.number)
    }

    /// Runs `work` on the lane, and waits at most `patience` for its result. Throws immediately if other work in the
    /// lane has been running for longer than `patience`.
    package func wait<Value: Sendable>(
        _ patience: Duration, for work: @escaping @Sendable () throws -> Value
    ) throws -> Value {
        if let oldest, oldest < .now() - patience.dispatch { throw Silence() }
        let result = Mutex<Result<Value, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
        let added = state.withLock { state in
            add(
                {
                    let outcome = Result { try work() }
                    result.withLock { $0 = outcome }
                    done.signal()
                }, to: &state)
        }
        begin(added.isNew)
        if done.wait(timeout: .now() + patience.dispatch) == .timedOut { withdraw(added.number) }
        guard let outcome = result.withLock({ $0 }) else { throw Silence() }
        return try outcome.get()
    }

    /// The start time of the longest-running work.
    package var oldest: DispatchTime? { state.withLock { $0.running.values.min() } }

    private func add(_ work: @escaping Work, to state: inout State) -> (number: Int, isNew: Bool) {
        state.last += 1
        state.waiting.append((state.last, work))
        let isNew =
            state.threads == 0 || state.threads < threads && Self.total.load(ordering: .relaxed) < Self.most
        if isNew { state.threads += 1 }
        return (state.last, isNew)
    }

    private func begin(_ isNew: Bool) {
        guard isNew else { return }
        Self.total.add(1, ordering: .relaxed)
        // Each thread gets a serial queue, which always runs on its own thread. libdispatch gives a concurrent queue
        // only a few threads, and checks every second whether these threads are blocked.
        DispatchQueue(label: "pipelined.files").async { self.run() }
    }

    private func run() {
        while let (number, work) = next() {
            work()
            state.withLock { _ = $0.running.removeValue(forKey: number) }
        }
        Self.total.subtract(1, ordering: .relaxed)
    }

    private func next() -> (number: Int, work: Work)? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.threads -= 1
                return nil
            }
            let next = state.waiting.removeFirst()
            state.running[next.number] = .now()
            return next
        }
    }

    @discardableResult
    private func withdraw(_ number: Int) -> Bool {
        state.withLock { state in
            guard let index = state.waiting.firstIndex(where: { $0.number == number }) else { return false }
            state.waiting.remove(at: index)
            return true
        }
    }
}
