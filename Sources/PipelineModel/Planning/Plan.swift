/// The operations of a job, in the order of their dependencies.
public struct Plan: Sendable, Hashable {
    public let operations: [PlannedOperation]

    public init(operations: [PlannedOperation]) {
        self.operations = operations
    }
}
