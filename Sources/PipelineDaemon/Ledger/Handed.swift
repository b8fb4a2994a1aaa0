import Synchronization

/// What a change hands to its completion, which runs behind it.
final class Handed<Value: Sendable>: Sendable {
    private let box: Mutex<Value>

    init(_ value: Value) { box = Mutex(value) }

    var value: Value {
        get { box.withLock { $0 } }
        set { box.withLock { $0 = newValue } }
    }
}
