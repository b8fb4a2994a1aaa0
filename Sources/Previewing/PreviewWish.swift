import DaemonConfiguration
package import DaemonRuntime
package import JobModel
package import SystemCalls
import WorkerPools

/// A client's request for a preview of an original or a result.
@Coordination
package final class PreviewWish {
    package typealias Answer = @Sendable (Result<(name: String, file: Descriptor), any Error>) -> Void

    package let record: JobRecord
    /// The number of the result, from 1; nil for the original.
    package let result: Int?
    /// The longest side, in pixels.
    package let size: Int
    private let answer: Answer
    package private(set) var isOver = false
    /// The request's place in the queue of pictures to open. Used to withdraw the request.
    package var opening: FileLane.Place?
    weak var making: PreviewMaking?

    package init(_ record: JobRecord, result: Int?, size: Int, answer: @escaping Answer) {
        (self.record, self.result, self.size, self.answer) = (record, result, size, answer)
    }

    /// Returns the callback that answers the request. Only the first call returns it, so each request is answered once.
    package func take() -> Answer? {
        defer { isOver = true }
        return isOver ? nil : answer
    }

    package func fail(_ error: any Error) { take()?(.failure(error)) }
}
