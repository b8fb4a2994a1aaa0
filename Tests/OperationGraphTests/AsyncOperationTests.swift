import Dispatch
import Glibc
import OperationGraph
import Synchronization
import Testing

/// Each test covers a pitfall of Foundation's operations on Linux.
@Suite("An asynchronous operation")
struct AsyncOperationTests {
    @Test("an operation that is cancelled in a suspended queue says so at once, and ends when the queue resumes")
    func cancelledWhileSuspended() async {
        let queue = GatedQueue(limit: 1)
        queue.pause(reason: nil)
        let operation = Held()
        queue.add(operation)
        operation.cancel()
        #expect(operation.state == .cancelled)
        queue.resume()
        await operation.end()
        #expect(operation.executed == 0)
    }

    @Test("an operation that is cancelled while it is held finishes at once, whether Foundation has started it or not")
    func cancelledWhileHeld() async {
        let queue = GatedQueue(limit: 1)
        queue.pause(reason: nil)
        let (started, unstarted, unadded) = (Held(), Held(), Held())
        queue.add(started)
        await started.becomes(.ready)
        started.cancel()
        // Foundation never has to start this operation: it is already finished.
        #expect(started.isFinished)
        queue.add(unstarted)
        unstarted.cancel()
        await unstarted.end()
        unadded.cancel()
        queue.add(unadded)
        await unadded.end()
        for operation in [started, unstarted, unadded] {
            operation.cancel()
            #expect(operation.state == .cancelled && operation.executed == 0)
            #expect((operation.spared, operation.interrupted) == (1, 0))
        }
    }

    @Test("a cancel interrupts a running operation, which ends when its work does; only the first end counts")
    func interrupted() async {
        let queue = GatedQueue(limit: 1)
        let operation = Held()
        queue.add(operation)
        await operation.beginning()
        operation.cancel()
        await operation.interruption()
        operation.cancel()
        #expect(operation.state == .executing && !operation.isFinished && operation.interrupted == 1)
        operation.finish(.failed)
        operation.finish(.finished)
        operation.cancel()
        #expect(operation.state == .failed && operation.isFinished)
        #expect((operation.spared, operation.interrupted, queue.report.running) == (0, 1, 0))
    }

    @Test("a cancel interrupts an operation once, and only after its execute has returned", arguments: [false, true])
    func interruptedBeforeWork(isCancelledFirst: Bool) async {
        let queue = GatedQueue(limit: 1)
        let seen = Mutex<[Int]>([])
        let operation = Held { operation in
            if !isCancelledFirst { operation.cancel() }
            operation.cancel()
            seen.withLock { $0.append(operation.interrupted) }
        }
        operation.observe { operation, state in
            if isCancelledFirst, state == .executing { operation.cancel() }
        }
        queue.add(operation)
        await operation.interruption()
        operation.cancel()
        #expect(seen.withLock { $0 } == [0] && operation.interrupted == 1)
        operation.finish(.cancelled)
        await operation.end()
    }

    @Test(
        "an operation is interrupted on the thread that cancels it, or on the thread of execute while that runs",
        arguments: [false, true])
    func interruptingThread(isExecuting: Bool) async {
        let queue = GatedQueue(limit: 2)
        let (ready, cancelled) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let operation = Held { _ in
            guard isExecuting else { return }
            ready.signal()
            cancelled.wait()
        }
        // Foundation starts one operation after the other. When `next` begins, the `execute` of the first operation has
        // returned.
        let next = Held { _ in if !isExecuting { ready.signal() } }
        let canceller = Mutex<pthread_t?>(nil)
        DispatchQueue(label: "test.canceller").async {
            canceller.withLock { $0 = pthread_self() }
            ready.wait()
            operation.cancel()
            cancelled.signal()
        }
        for added in [operation, next] { queue.add(added) }
        await operation.interruption()
        await next.beginning()
        next.finish(.finished)
        let expected = isExecuting ? operation.executingThread : canceller.withLock { $0 }
        #expect(operation.interruptingThread == expected)
        operation.finish(.cancelled)
        await operation.end()
    }

    @Test("in a chain that is cancelled from its tail while the head runs, no dependent starts")
    func cancelledChain() async {
        let queue = GatedQueue(limit: 8)
        let (head, middle, tail) = (Held(), Held(), Held())
        middle.follow(head)
        tail.follow(middle)
        for operation in [head, middle, tail] { queue.add(operation) }
        await head.beginning()
        for operation in [tail, middle, head] { operation.cancel() }
        head.finish(.cancelled)
        for operation in [head, middle, tail] { await operation.end() }
        #expect([middle, tail].map(\.executed) == [0, 0])
        #expect([head, middle, tail].map(\.state) == [.cancelled, .cancelled, .cancelled])
    }

    @Test("releasing a dependent before its dependency has finished crashes nothing")
    func dependentLetGo() async {
        for _ in 0..<200 {
            let queue = GatedQueue(limit: 8)
            let head = Held()
            do {
                let dependent = Held()
                dependent.follow(head)
                queue.add(head)
                queue.add(dependent)
                dependent.cancel()
                await dependent.end()
            }
            await head.beginning()
            head.finish(.finished)
            await head.end()
            #expect(head.state == .finished)
        }
    }

    @Test("an operation starts even if its dependency has already ended, and both are released at the end")
    func released() async {
        weak var first: Held?
        weak var last: Held?
        do {
            let queue = GatedQueue(limit: 2)
            let (head, late) = (Held { $0.finish(.finished) }, Held { $0.finish(.finished) })
            queue.add(head)
            await head.end()
            late.follow(head)
            queue.add(late)
            await late.end()
            #expect([head.executed, late.executed] == [1, 1])
            (first, last) = (head, late)
        }
        // The thread that reported the finish may hold a reference to the operation a moment longer.
        while first != nil || last != nil { await Task.yield() }
    }

    @Test("an ended operation releases its observer and its contents, even while its dependents exist")
    func lettingGo() async {
        let queue = GatedQueue(limit: 2)
        let operation = Held()
        let dependent = Held()
        dependent.follow(operation)
        weak var payload: Payload?
        do {
            let held = Payload()
            payload = held
            operation.observe { _, _ in _ = held }
        }
        queue.add(operation)
        queue.add(dependent)
        await operation.beginning()
        #expect(payload != nil)
        operation.finish(.finished)
        await operation.end()
        #expect(payload == nil)
        await dependent.beginning()
        dependent.finish(.finished)
    }

    @Test(
        "only an operation that has not begun can be withdrawn, and its dependents are told when it is cancelled"
    )
    func withdrawn() async {
        let queue = GatedQueue(limit: 1)
        let (first, second, third) = (Held(), Held(), Held())
        third.follow(second)
        for operation in [first, second, third] { queue.add(operation) }
        await first.beginning()
        #expect(!first.withdraw())
        #expect(second.withdraw())
        #expect(second.state == .cancelled && third.state == .pending)
        for operation in [third, second] { operation.cancel() }
        await third.end()
        #expect(third.executed == 0 && second.executed == 0 && first.executed == 1)
        first.finish(.finished)
        await first.end()
    }

    @Test(
        "thousands of chains with random cancels, pauses and limits all end",
        arguments: [GatedQueue.Starts.serial, .concurrent])
    func storm(starts: GatedQueue.Starts) async {
        let queues = (0..<3).map { _ in GatedQueue(limit: 4, on: starts) }
        var all: [Held] = []
        for number in 0..<2000 {
            let chain = (0..<3).map { _ in
                Held { operation in DispatchQueue.global().async { operation.finish(.finished) } }
            }
            for (before, after) in zip(chain, chain.dropFirst()) { after.follow(before) }
            for (queue, operation) in zip(queues, chain) { queue.add(operation) }
            all += chain
            if number % 3 == 0 { for operation in chain.reversed() { operation.cancel() } }
            if number % 50 == 0 { queues[number % 3].set(number / 50 % 6) }
            if number % 70 == 0 { queues[number % 3].pause(reason: "storm") }
            if number % 70 == 35 { for queue in queues { queue.resume() } }
        }
        for queue in queues {
            queue.resume()
            queue.set(4)
        }
        for operation in all { await operation.end() }
        // `neverBegan` is called just after an operation finishes, so wait for the last call.
        for operation in all { while operation.executed + operation.spared == 0 { await Task.yield() } }
        #expect(all.allSatisfy { $0.executed + $0.spared == 1 })
        for (number, chain) in stride(from: 0, to: all.count, by: 3).map({ all[$0..<$0 + 3] }).enumerated() {
            #expect(number % 3 == 0 || chain.allSatisfy { $0.state == .finished })
        }
        // No slot of a queue is lost: each queue still starts one more operation.
        for queue in queues {
            queue.set(1)
            let last = Held()
            queue.add(last)
            await last.beginning()
            last.finish(.finished)
        }
    }
}

private final class Payload: Sendable {}
