import Dispatch
import Glibc
import OperationGraph
import Synchronization

/// An operation that executes the optional work, and then runs until someone finishes it.
final class Held: AsyncOperation, @unchecked Sendable {
    // `@unchecked`: its mutable state is behind a `Mutex`.
    private struct Calls {
        var executed = 0
        var hasBegun = false
        var spared = 0
        var interrupted = 0
        var executingThread: pthread_t?
        var interruptingThread: pthread_t?
    }

    private let calls = Mutex(Calls())
    private let started = AsyncStream<Void>.makeStream()
    private let work: (@Sendable (Held) -> Void)?

    init(_ work: (@Sendable (Held) -> Void)? = nil) {
        self.work = work
        super.init()
    }

    /// How often a cancel called `neverBegan` (before the operation began) and `interrupt` (while it was running).
    var spared: Int { calls.withLock { $0.spared } }
    var interrupted: Int { calls.withLock { $0.interrupted } }
    var executed: Int { calls.withLock { $0.executed } }
    var executingThread: pthread_t? { calls.withLock { $0.executingThread } }
    var interruptingThread: pthread_t? { calls.withLock { $0.interruptingThread } }

    override func execute() {
        calls.withLock {
            $0.executed += 1
            $0.executingThread = pthread_self()
        }
        work?(self)
        calls.withLock { $0.hasBegun = true }
        started.continuation.yield()
        started.continuation.finish()
    }

    override func neverBegan() { calls.withLock { $0.spared += 1 } }
    override func interrupt() {
        calls.withLock {
            $0.interrupted += 1
            $0.interruptingThread = pthread_self()
        }
    }

    /// Waits until the operation has begun.
    func beginning() async {
        if calls.withLock({ $0.hasBegun }) { return }
        for await _ in started.stream { return }
    }

    func interruption() async {
        while interrupted == 0 { await Task.yield() }
    }

    func becomes(_ state: OperationState) async {
        while self.state != state { await Task.yield() }
    }

    /// Waits until the operation is finished, as Foundation sees it. Polls the operation itself, because Foundation's
    /// queues are under test.
    func end() async {
        while !isFinished { await Task.yield() }
    }
}

extension GatedQueue {
    /// The kind of Foundation queue that starts the operations.
    enum Starts {
        case serial, concurrent
    }

    convenience init(
        limit: Int?, isSerial: Bool = false, on starts: Starts = .serial,
        automatic: @escaping @Sendable () -> Int = { 1 }
    ) {
        let queue = DispatchQueue(label: "test.starts", attributes: starts == .serial ? [] : .concurrent)
        self.init("test", limit: limit, isSerial: isSerial, on: queue, automatic: automatic)
    }
}
