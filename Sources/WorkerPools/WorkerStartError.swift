/// A render worker that does not come up.
package struct WorkerStartError: Error, Sendable, CustomStringConvertible {
    package let program: String
    package let how: String
    /// The plugin that it was loading.
    var loading: String?

    package var description: String { "the render worker \(program) \(how)" }
}
