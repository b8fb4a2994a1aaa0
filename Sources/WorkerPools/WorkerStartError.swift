import SystemCalls

/// Why a render worker did not start, or why plugins could not be copied.
package struct WorkerStartError: Error, Sendable, CustomStringConvertible {
    package let program: String
    package let how: String
    /// The plugin that the worker was loading when it failed.
    var loading: String?

    private var subject = "the render worker"

    init(program: String, how: String, loading: String? = nil) {
        (self.program, self.how, self.loading) = (program, how, loading)
    }

    /// Reports that the folder for copies of plugins can't be created.
    init(copyingTo folder: String, _ error: SystemError) {
        (program, subject) = (folder, "the folder for copies of plugins")
        how =
            error.isFull
            ? "can't be made, because its disk is full; make room there, then `pipectl reload`"
            : "can't be made: \(error)"
    }

    package var description: String { "\(subject) \(program) \(how)" }
}
