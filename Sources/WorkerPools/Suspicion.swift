import PipelineModel
import WorkerProtocol

/// The filters that may be to blame for a worker's end, or for its silence.
package struct Suspicion: Sendable, Hashable {
    package struct Filter: Sendable, Hashable, CustomStringConvertible {
        package var name: String
        var file: String

        package var description: String { "'\(name)' (\(file))" }
    }

    /// The filters whose code was running or, where that is not known, the filters of the job's chains.
    package var filters: [Filter]
    package var isCertain: Bool
    /// Its worker had no memory left.
    package var isOutOfMemory: Bool

    /// "the filter 'odd' (/plugins/odd.so)"
    package var words: String {
        (filters.count == 1 ? "the filter " : "the filters ") + filters.map(\.description).joined(separator: " and ")
    }
}

extension WorkerFailure {
    /// Adds the file of the filter that is to blame.
    func naming(_ files: [String: String]) -> WorkerFailure {
        guard let file = filter.flatMap({ files[$0] }) else { return self }
        var named = self
        named.advice = (advice.map { "\($0); " } ?? "") + "it comes from \(file)"
        return named
    }
}
