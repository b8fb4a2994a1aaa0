import OperationGraph
import Synchronization
import Testing

/// Operations that hand values on.
@Suite("An operation that follows others")
struct ProvidingTests {
    @Test("takes the first value of the type that it wants")
    func first() async {
        let (empty, number, word, other) = (Source<Int>(nil), Source(1), Source("one"), Source("two"))
        let operation = await run(after: [empty, number, word, other])
        #expect(operation.provided(Int.self) == 1)
        #expect(operation.provided(String.self) == "one")
        #expect(operation.provided(Double.self) == nil)
        #expect(operation.state == .finished)
    }

    @Test("is cancelled if whatever provides something has come to nothing, and begins if nothing provides at all")
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

/// Provides its value once it has finished; with nil it fails.
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
