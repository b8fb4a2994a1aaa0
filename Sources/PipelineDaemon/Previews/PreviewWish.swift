import DaemonConfiguration
import DaemonRuntime
import JobLedger
import SystemCalls

/// Somebody's wish for a small picture to look at.
@Coordination
final class PreviewWish {
    typealias Answer = @Sendable (Result<(name: String, file: Descriptor), any Error>) -> Void

    let record: JobRecord
    /// From 1; nil for the original.
    let result: Int?
    /// The longest side, in pixels.
    let size: Int
    private let answer: Answer
    private(set) var isOver = false
    /// Its place among those whose picture is opened.
    var opening: FileLane.Place?
    weak var making: PreviewMaking?

    init(_ record: JobRecord, result: Int?, size: Int, answer: @escaping Answer) {
        (self.record, self.result, self.size, self.answer) = (record, result, size, answer)
    }

    /// The way to answer it, which is taken once.
    func take() -> Answer? {
        defer { isOver = true }
        return isOver ? nil : answer
    }

    func fail(_ error: any Error) { take()?(.failure(error)) }
}
