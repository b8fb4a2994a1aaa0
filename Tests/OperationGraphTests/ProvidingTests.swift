import OperationGraph
import Synchronization
import Testing

/// Operations that pass a value on to their dependents.
@Suite("An operation that depends on others")
struct ProvidingTests {
    @Test("an operation gets the first value of the type that it needs")
    func first() async {
        let (empty, number, word, other) = (Source<Int>(nil), Source(1), Source("one"), Source("two"))
        let operation = await run(after: [empty, number, word, other])
        #expect(operation.provided(Int.self) == 1)
        #expect(operation.provided(String.self) == "one")
        #expect(operation.provided(Double.self) == nil)
        #expect(operation.state == .finished)
    }

    @Test("an operation is cancelled if all its providers failed, and starts if it has no providers")
    func inVain() async {
        let nothing = [Source<Int>(nil), Source<String>(nil), Held { $0.finish(.finished) }]
        #expect(await run(after: nothing).state == .cancelled)
        #expect(await run(after: [Held { $0.finish(.failed) }]).state == .finished)
    }

    private func run(after others: [AsyncOperation]) async -> Held {
        let queue = GatedQueue(limit: 8)
        let operation = Held { $0.finish(.finished) }
        for other in others { operation.follow(other) }
        for other in others + [operation] { queue.add(other) }
        await operation.end()
        return operation
    }
}

/// Provides its value when it finishes; fails if the value is nil.
private final class Source<Value: Sendable>: AsyncOperation, Providing, @unchecked Sendable {
    // `@unchecked`: its value is constant.
    private let value: Value?

    init(_ value: Value?) {
        self.value = value
        super.init()
    }

    var product: Value? { state == .finished ? value : nil }

    override func execute() { finish(value == nil ? .failed : .finished) }
}
