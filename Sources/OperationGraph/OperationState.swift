/// The state of an operation, in Foundation's terms.
package enum OperationState: String, Sendable {
    case pending, ready, executing, finished, failed, cancelled

    package var isFinal: Bool { self == .finished || self == .failed || self == .cancelled }
}
