import Dispatch
import OperationGraph
import Synchronization
import Testing

/// The guarantees of the queue's gate.
@Suite("A gated queue")
struct GatedQueueTests {
    @Test(
        "once a pause, a hold or a limit of 0 has returned, no operation begins, even one that had been admitted",
        arguments: [0, 1, 2])
    func pauseIsTrue(way: Int) async {
        for _ in 0..<50 {
            let queue = GatedQueue(limit: 4, on: .concurrent)
            let operations = (0..<40).map { _ in Held() }
            for operation in operations { queue.add(operation) }
            await operations[0].beginning()
            // Each finished operation admits another one on a separate thread.
            for operation in operations.prefix(4) where operation.executed > 0 {
                DispatchQueue.global().async { operation.finish(.finished) }
            }
            switch way {
            case 0: queue.pause(reason: nil)
            case 1: queue.hold(true)
            default: queue.set(0)
            }
            let begun = operations.count { $0.executed > 0 }
            for operation in operations where operation.executed > 0 {
                operation.finish(.finished)
                await operation.end()
            }
            // After this callback, Foundation has started every operation that it is going to start.
            await withCheckedContinuation { continuation in queue.ask { continuation.resume() } }
            #expect(operations.count { $0.executed > 0 } == begun)
            while queue.report.running > 0 { await Task.yield() }
            for operation in operations.reversed() { operation.cancel() }
            queue.resume()
            queue.hold(false)
            queue.set(4)
            for operation in operations { await operation.end() }
        }
    }

    @Test("a limit of 0 lets running operations finish and starts none; when it is raised, the queue continues")
    func zero() async {
        let queue = GatedQueue(limit: 1)
        let (first, second) = (Held(), Held())
        queue.add(first)
        queue.add(second)
        await first.beginning()
        queue.set(0)
        first.finish(.finished)
        await first.end()
        #expect(second.executed == 0)
        queue.set(2)
        await second.beginning()
        second.finish(.finished)
    }

    @Test("asynchronous operations reach their queue's limit at once, and never exceed it")
    func limit() async {
        let queue = GatedQueue(limit: 16)
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

    @Test(
        "a place is spare while no operation uses or awaits it; a held queue has one once nothing runs"
    )
    func spare() async {
        let queue = GatedQueue(limit: 2)
        let told = Mutex<[Int]>([])
        func wish(_ places: Int) { queue.whenSpare(places, for: "test") { told.withLock { $0.append(places) } } }
        wish(2)
        #expect(queue.spare == 2 && told.withLock { $0 } == [2])
        let operations = (0..<4).map { _ in Held() }
        for operation in operations { queue.add(operation) }
        for operation in operations.prefix(2) { await operation.beginning() }
        wish(2)
        wish(1)
        #expect(queue.spare == 0)
        operations[0].finish(.finished)
        await operations[2].beginning()
        operations[1].finish(.finished)
        await operations[3].beginning()
        #expect(queue.spare == 0 && told.withLock { $0 } == [2])
        operations[2].finish(.finished)
        while queue.spare == 0 { await Task.yield() }
        while told.withLock({ $0 }) != [2, 1] { await Task.yield() }
        // A queued operation can't use the free slot while the queue is paused.
        queue.pause(reason: nil)
        let waiting = Held()
        queue.add(waiting)
        #expect(queue.spare == 1)
        queue.set(0)
        wish(1)
        #expect(queue.spare == 0 && told.withLock { $0 } == [2, 1])
        operations[3].finish(.finished)
        while told.withLock({ $0 }) != [2, 1, 1] { await Task.yield() }
        #expect(queue.spare == 1)
        queue.close()
        wish(1)
        #expect(queue.spare == 0 && told.withLock { $0 } == [2, 1, 1])
        waiting.cancel()
        await waiting.end()
    }

    @Test("operations beyond the limit are admitted one at a time to run elsewhere, and none at a limit of 0")
    func beyond() async {
        let queue = GatedQueue(limit: 1)
        let operations = (0..<4).map { _ in Held() }
        for operation in operations { queue.add(operation) }
        await operations[0].beginning()
        queue.set(beyond: 1)
        await operations[1].beginning()
        #expect(!operations[2].hasBegun)
        operations[1].setAside()
        await operations[2].beginning()
        #expect(queue.report.running == 2)
        queue.set(beyond: 0)
        operations[2].setAside()
        #expect(queue.report.running == 1 && queue.spare == 0)
        queue.set(0)
        queue.set(beyond: 1)
        for operation in operations.prefix(3) {
            operation.finish(.finished)
            await operation.end()
        }
        #expect(queue.report.running == 0 && operations[3].state != .executing)
        queue.set(1)
        await operations[3].beginning()
        operations[3].finish(.finished)
        await operations[3].end()
    }

    @Test("auto follows its current value")
    func automatic() async {
        let meaning = Mutex(1)
        let queue = GatedQueue(limit: nil, automatic: { meaning.withLock { $0 } })
        let operations = (0..<3).map { _ in Held() }
        for operation in operations { queue.add(operation) }
        await operations[0].beginning()
        #expect(!queue.followAutomatic())
        meaning.withLock { $0 = 2 }
        #expect(queue.followAutomatic())
        await operations[1].beginning()
        #expect(queue.report.effective == 2 && queue.report.running == 2)
        queue.set(3)
        #expect(!queue.followAutomatic())
        for operation in operations {
            await operation.beginning()
            operation.finish(.finished)
        }
    }

    @Test("operations begin in the order in which they were added")
    func order() async {
        let queue = GatedQueue(limit: 1)
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

    @Test("the higher priority begins first, then the lower position, in whatever order they were added")
    func places() async {
        let queue = GatedQueue(limit: 0)
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
        queue.set(1)
        for operation in operations { await operation.end() }
        #expect(begun.withLock { $0 } == [4, 0, 3, 5, 1])
    }

    @Test("lanes take turns within their limits, and one lane keeps the order of its positions")
    func lanes() async {
        let queue = GatedQueue(limit: 3)
        queue.set(lane: 2)
        queue.pause(reason: nil)
        let names = ["a1", "a2", "a3", "a4", "b1", "c1"]
        let begun = Mutex<[String]>([])
        let operations = names.map { name in Held { _ in begun.withLock { $0.append(name) } } }
        for (position, operation) in operations.enumerated() {
            queue.add(
                operation, at: QueuePlace(position: position), lane: GateLane.Name(String(names[position].prefix(1))))
        }
        for operation in operations { await operation.becomes(.ready) }
        queue.resume()
        for index in [0, 4, 5] { await operations[index].beginning() }
        #expect(queue.report.running == 3)
        // A slot becomes free while only operations of lane `a` wait.
        operations[4].finish(.finished)
        await operations[1].beginning()
        // Another slot becomes free, but lane `a` has reached its limit.
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

    @Test("groups take turns by their shares, and the lanes of a group share its turns")
    func groups() async {
        let queue = GatedQueue(limit: 1)
        queue.pause(reason: nil)
        let lanes = [("large", 1, 1), ("large", 2, 1), ("double", 0, 2), ("small", 0, 1)]
        let begun = Mutex<[String]>([])
        var operations: [Held] = []
        for (group, member, share) in lanes {
            for _ in 1...6 {
                let operation = Held { operation in
                    begun.withLock { $0.append("\(group)\(member)") }
                    operation.finish(.finished)
                }
                operations.append(operation)
                queue.add(
                    operation, at: QueuePlace(position: operations.count),
                    lane: GateLane.Name(group, member: member, share: share))
            }
        }
        for operation in operations { await operation.becomes(.ready) }
        queue.resume()
        for operation in operations { await operation.end() }
        let order = begun.withLock { $0 }
        // Each group's share of the first twelve turns, while all groups have work.
        #expect(
            ["large", "double", "small"].map { name in order.prefix(12).count { $0.hasPrefix(name) } } == [3, 6, 3])
        #expect(order.prefix(12).filter { $0.hasPrefix("large") } == ["large1", "large2", "large1"])
    }

    @Test("a group that comes later neither waits for the others nor catches up with them")
    func laterGroup() async {
        let queue = GatedQueue(limit: 1)
        queue.pause(reason: nil)
        let begun = Mutex<[String]>([])
        func add(_ count: Int, _ group: String, at first: Int) -> [Held] {
            (0..<count).map { index in
                let operation = Held { _ in begun.withLock { $0.append(group) } }
                queue.add(operation, at: QueuePlace(position: first + index), lane: GateLane.Name(group))
                return operation
            }
        }
        let early = add(6, "early", at: 0)
        for operation in early { await operation.becomes(.ready) }
        queue.resume()
        for operation in early.prefix(3) {
            await operation.beginning()
            operation.finish(.finished)
        }
        await early[3].beginning()
        let late = add(3, "late", at: 100)
        for operation in late { await operation.becomes(.ready) }
        for operation in [early[3], late[0], early[4], late[1], early[5], late[2]] {
            await operation.beginning()
            operation.finish(.finished)
        }
        for operation in early + late { await operation.end() }
        #expect(
            begun.withLock { $0 } == ["early", "early", "early", "early", "late", "early", "late", "early", "late"])
    }

    @Test(
        "operations that become ready or are added during a pause wait for its end, as they do in a hold or a close"
    )
    func readyWhilePaused() async {
        let queue = GatedQueue(limit: 4)
        let (first, second, third) = (Held(), Held(), Held())
        second.follow(first)
        queue.add(first)
        queue.add(second)
        await first.beginning()
        queue.pause(reason: "lunch")
        #expect(queue.pause(reason: nil) == "lunch")
        queue.hold(true)
        queue.add(third)
        first.finish(.finished)
        await second.becomes(.ready)
        #expect(queue.report.paused && queue.report.reason == "lunch")
        queue.resume()
        #expect(!queue.report.paused && queue.report.reason == nil)
        #expect((queue.report.running, second.executed, third.executed) == (0, 0, 0))
        queue.hold(false)
        await second.beginning()
        await third.beginning()
        queue.close()
        let last = Held()
        queue.add(last)
        await last.becomes(.ready)
        queue.resume()
        #expect(queue.report.running == 2)
        for operation in [last, second, third] {
            operation.cancel()
            operation.finish(.cancelled)
            await operation.end()
        }
        #expect(last.executed == 0)
    }

    @Test("a hanging operation that is set aside frees its place once, and its end frees no other")
    func setAside() async {
        let queue = GatedQueue(limit: 1)
        let operations = (0..<4).map { _ in Held() }
        for operation in operations { queue.add(operation) }
        await operations[0].beginning()
        operations[0].setAside()
        operations[0].setAside()
        await operations[1].beginning()
        #expect(queue.report.running == 1)
        operations[0].finish(.finished)
        await operations[0].end()
        #expect((queue.report.running, operations[2].executed) == (1, 0))
        // An operation that waits or is finished has no slot, so setting it aside frees none.
        operations[2].setAside()
        operations[0].setAside()
        #expect((queue.report.running, operations[2].executed) == (1, 0))
        for operation in operations.dropFirst() {
            await operation.beginning()
            operation.finish(.finished)
            await operation.end()
        }
        #expect(queue.report.running == 0)
    }

    @Test("a serial queue starts operations in the order in which they become ready, whatever their positions")
    func serial() async {
        let (heads, queue) = (GatedQueue(limit: 8), GatedQueue(limit: 1, isSerial: true))
        let begun = Mutex<[Int]>([])
        let operations = (0..<5).map { index in
            Held { operation in
                begun.withLock { $0.append(index) }
                operation.finish(.finished)
            }
        }
        let dependencies = operations.map { operation in
            let head = Held()
            operation.follow(head)
            return head
        }
        for (index, operation) in operations.enumerated() { queue.add(operation, at: QueuePlace(position: index)) }
        for head in dependencies { heads.add(head) }
        for index in [3, 0, 4, 2, 1] {
            await dependencies[index].beginning()
            dependencies[index].finish(.finished)
        }
        for operation in operations { await operation.end() }
        #expect(begun.withLock { $0 } == [3, 0, 4, 2, 1])
    }

    @Test("a paused queue without places still answers, and traces each state of an operation in order")
    func traced() async {
        let queue = GatedQueue(limit: 0)
        queue.pause(reason: nil)
        await withCheckedContinuation { continuation in queue.ask { continuation.resume() } }
        let lines = Mutex<[String]>([])
        queue.trace { queue, subject, state in lines.withLock { $0.append("\(queue) \(subject): \(state)") } }
        let (first, second) = (Held { $0.finish(.failed) }, Held())
        queue.add(first, of: "first")
        queue.add(second, of: "second")
        // Operations without a subject are not traced.
        queue.add(Held { $0.finish(.finished) })
        await first.becomes(.ready)
        await second.becomes(.ready)
        second.cancel()
        queue.set(1)
        queue.resume()
        await first.end()
        queue.trace(nil)
        queue.add(Held { $0.finish(.finished) }, of: "third")
        let told = lines.withLock { $0 }
        let ofFirst = ["pending", "ready", "executing", "failed"].map { "test first: \($0)" }
        #expect(told.filter { $0.contains("first") } == ofFirst)
        let ofSecond = ["pending", "ready", "cancelled"].map { "test second: \($0)" }
        #expect(told.filter { $0.contains("second") } == ofSecond)
        #expect(told.count == 7)
    }
}
