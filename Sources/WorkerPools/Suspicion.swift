import PipelineModel
import WorkerProtocol

/// The filters that may have caused a worker's crash or hang.
package struct Suspicion: Sendable, Hashable {
    package struct Filter: Sendable, Hashable, CustomStringConvertible {
        package var name: String
        var file: String

        package var description: String { "'\(name)' (\(file))" }
    }

    /// The filters that were running; if these are unknown, all filters of the job's chains.
    package var filters: [Filter]
    package var isCertain: Bool
    /// Whether the worker ran out of memory.
    package var isOutOfMemory: Bool

    /// The filters in words: "the filter 'odd' (/plugins/odd.so)".
    package var words: String {
        (filters.count == 1 ? "the filter " : "the filters ") + filters.map(\.description).joined(separator: " and ")
    }
}

extension WorkerFailure {
    /// Adds the file of the filter at fault to the advice.
    func naming(_ files: [String: String]) -> WorkerFailure {
        guard let file = filter.flatMap({ files[$0] }) else { return self }
        var named = self
        named.advice = (advice.map { "\($0); " } ?? "") + "it comes from \(file)"
        return named
    }
}
