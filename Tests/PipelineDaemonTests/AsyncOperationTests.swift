import Foundation
import PipelineModel
import Synchronization
import Testing

@testable import PipelineDaemon

/// Each of these was a trap of Foundation's operations on Linux.
@Suite("An asynchronous operation")
struct AsyncOperationTests {
    @Test("cancelled while its queue is suspended, it says so at once, and ends when the queue goes on")
    func cancelledWhileSuspended() async {
        let queue = PipelineQueue("test", limit: .count(1), automatic: { 1 })
        queue.pause(reason: nil)
        let operation = Held()
        queue.add(operation)
        operation.cancel()
        #expect(operation.state == .cancelled)
        queue.resume()
        await operation.end()
        #expect(operation.executed == 0)
    }

    @Test("of a chain that is cancelled from its tail while the head works, no dependent works")
    func cancelledChain() async {
        let queue = PipelineQueue("test", limit: .count(8), automatic: { 1 })
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

    @Test("a dependent that is let go of before its dependency has finished takes nobody down")
    func dependentLetGo() async {
        for _ in 0..<200 {
            let queue = PipelineQueue("test", limit: .count(8), automatic: { 1 })
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
        }
    }

    @Test("lanes take turns, each within its limit; in one lane the order is that of the places, whatever begins when")
    func lanes() async {
        let queue = PipelineQueue("test", limit: .count(3), automatic: { 1 })
        queue.set(lane: 2)
        queue.pause(reason: nil)
        let names = ["a1", "a2", "a3", "a4", "b1", "c1"]
        let begun = Mutex<[String]>([])
        let operations = names.map { name in Held { _ in begun.withLock { $0.append(name) } } }
        for (position, operation) in operations.enumerated() {
            queue.add(operation, at: QueuePlace(position: position), lane: String(names[position].prefix(1)))
        }
        queue.resume()
        for index in [0, 4, 5] { await operations[index].beginning() }
        #expect(queue.report.running == 3)
        // A place is free, and operations of one lane alone wait.
        operations[4].finish(.finished)
        await operations[1].beginning()
        // Another place is free, but the lane has its share.
        operations[5].finish(.finished)
        await operations[5].end()
        #expect((queue.report.running, operations[2].state) == (2, .ready))
        operations[1].finish(.finished)
        await operations[2].beginning()
        queue.set(lane: 3)
        await operations[3].beginning()
        #expect(begun.withLock { $0 } == ["a1", "b1", "c1", "a2", "a3", "a4"])
        for operation in operations { operation.finish(.finished) }
        for operation in operations { await operation.end() }
    }

    @Test("it lets go of its observer and of what it held once it has ended, with its dependents still there")
    func lettingGo() async {
        let queue = PipelineQueue("test", limit: .count(2), automatic: { 1 })
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

    @Test("asynchronous operations reach their queue's limit at once, and never go beyond it")
    func limit() async {
        let queue = PipelineQueue("test", limit: .count(16), automatic: { 1 })
        let operations = (0..<64).map { _ in Held() }
        for operation in operations { queue.add(operation) }
        for operation in operations.prefix(16) { await operation.beginning() }
        #expect(queue.report.running == 16)
        for operation in operations {
            await operation.beginning()
            #expect(queue.report.running <= 16)
            operation.finish(.finished)
            await operation.end()
        }
    }

    @Test("after a pause has returned nothing new starts, though Foundation had begun to start it")
    func pauseIsTrue() async {
        for _ in 0..<50 {
            let queue = PipelineQueue("test", limit: .count(4), automatic: { 1 })
            let operations = (0..<40).map { _ in Held() }
            for operation in operations { queue.add(operation) }
            await operations[0].beginning()
            queue.pause(reason: nil)
            // What counts as running when the pause returns, and nothing else.
            let begun = queue.report.running
            // Four threads bring them to the gate; the order in which they come is not that in which they were added.
            while operations.count(where: { $0.executed > 0 }) < begun { await Task.yield() }
            for operation in operations where operation.executed > 0 {
                operation.finish(.finished)
                await operation.end()
            }
            #expect(operations.count { $0.executed > 0 } == begun)
            for operation in operations.reversed() { operation.cancel() }
            queue.resume()
            for operation in operations { await operation.end() }
        }
    }

    @Test("a limit of 0 finishes what runs and starts nothing; raised, the queue goes on")
    func zero() async {
        let queue = PipelineQueue("test", limit: .count(1), automatic: { 1 })
        let (first, second) = (Held(), Held())
        queue.add(first)
        queue.add(second)
        await first.beginning()
        queue.set(.count(0))
        first.finish(.finished)
        await first.end()
        #expect(second.executed == 0)
        queue.set(.count(2))
        await second.beginning()
        second.finish(.finished)
    }

    @Test("operations begin in the order in which they were added")
    func order() async {
        let queue = PipelineQueue("test", limit: .count(1), automatic: { 1 })
        queue.pause(reason: nil)
        let begun = Mutex<[Int]>([])
        let operations = (0..<200).map { index in
            Held { operation in
                begun.withLock { $0.append(index) }
                operation.finish(.finished)
            }
        }
        for operation in operations { queue.add(operation) }
        queue.resume()
        for operation in operations { await operation.end() }
        #expect(begun.withLock { $0 } == Array(0..<200))
    }

    @Test("the higher priority begins first, then the lower position, whatever the order in which they were added")
    func places() async {
        let queue = PipelineQueue("test", limit: .count(0), automatic: { 1 })
        let begun = Mutex<[Int]>([])
        let operations = (0..<6).map { index in
            Held { operation in
                begun.withLock { $0.append(index) }
                operation.finish(.finished)
            }
        }
        for (index, operation) in operations.enumerated().reversed() {
            queue.add(operation, at: QueuePlace(priority: [4: 1, 1: -1][index] ?? 0, position: index))
        }
        operations[2].cancel()
        queue.set(.count(1))
        for operation in operations { await operation.end() }
        #expect(begun.withLock { $0 } == [4, 0, 3, 5, 1])
    }

    @Test(
        "an operation that has not begun can be withdrawn, one that has can't; what follows learns of it when it is cancelled"
    )
    func withdrawn() async {
        let queue = PipelineQueue("test", limit: .count(1), automatic: { 1 })
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

    @Test("auto follows what it means")
    func automatic() async {
        let meaning = Mutex(1)
        let queue = PipelineQueue("test", limit: .auto, automatic: { meaning.withLock { $0 } })
        let operations = (0..<3).map { _ in Held() }
        for operation in operations { queue.add(operation) }
        await operations[0].beginning()
        #expect(!queue.followAutomatic())
        meaning.withLock { $0 = 2 }
        #expect(queue.followAutomatic())
        await operations[1].beginning()
        #expect(queue.report.effective == 2 && queue.report.running == 2)
        queue.set(.count(3))
        #expect(!queue.followAutomatic())
        for operation in operations {
            await operation.beginning()
            operation.finish(.finished)
        }
    }

    @Test("thousands of chains with random cancels, pauses and limits all come to an end")
    func storm() async {
        let queues = (0..<3).map { PipelineQueue("test \($0)", limit: .count(4), automatic: { 1 }) }
        var all: [Held] = []
        for number in 0..<2000 {
            let chain = (0..<3).map { _ in
                Held { operation in DispatchQueue.global().async { operation.finish(.finished) } }
            }
            for (before, after) in zip(chain, chain.dropFirst()) { after.follow(before) }
            for (queue, operation) in zip(queues, chain) { queue.add(operation) }
            all += chain
            if number % 3 == 0 { for operation in chain.reversed() { operation.cancel() } }
            if number % 50 == 0 { queues[number % 3].set(.count(number / 50 % 6)) }
            if number % 70 == 0 { queues[number % 3].pause(reason: "storm") }
            if number % 70 == 35 { for queue in queues { queue.resume() } }
        }
        for queue in queues {
            queue.resume()
            queue.set(.count(4))
        }
        for operation in all { await operation.end() }
        // No place is lost: the last one of each queue gets one more in.
        for queue in queues {
            queue.set(.count(1))
            let last = Held()
            queue.add(last)
            await last.beginning()
            last.finish(.finished)
        }
    }
}

private final class Payload: Sendable {}

/// An operation that works until the test finishes it, or does what the test says.
private final class Held: AsyncOperation, @unchecked Sendable {
    // `@unchecked`: what changes is behind a `Mutex`.
    private let begun = Mutex(0)
    private let started = AsyncStream<Void>.makeStream()
    private let work: (@Sendable (Held) -> Void)?

    init(_ work: (@Sendable (Held) -> Void)? = nil) {
        self.work = work
        super.init()
    }

    var executed: Int { begun.withLock { $0 } }

    override func execute() {
        begun.withLock { $0 += 1 }
        started.continuation.yield()
        started.continuation.finish()
        work?(self)
    }

    override func interrupt() {}

    func beginning() async {
        if executed > 0 { return }
        for await _ in started.stream { return }
    }

    /// Foundation has been told that it is finished. It is asked, and no queue of Foundation's relied on: these are what is tested.
    func end() async {
        while !isFinished { await Task.yield() }
    }
}
