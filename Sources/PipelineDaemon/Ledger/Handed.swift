/// What a change hands to its completion.
///
/// `@unchecked`: the two run one after the other, on the ledger's queue.
final class Handed<Value>: @unchecked Sendable {
    var value: Value

    init(_ value: Value) { self.value = value }
}
