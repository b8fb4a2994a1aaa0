import PipelineModel
import WorkerProtocol

/// Which filters a worker's end, or its silence, may be put down to.
struct Suspicion: Sendable, Hashable {
    struct Filter: Sendable, Hashable, CustomStringConvertible {
        var name: String
        var file: String

        var description: String { "'\(name)' (\(file))" }
    }

    /// Those whose code was running, or, where that is not known, those of the job's chains.
    var filters: [Filter]
    var isCertain: Bool
    /// Its worker had no memory left.
    var isOutOfMemory: Bool

    /// "the filter 'odd' (/plugins/odd.so)"
    var words: String {
        (filters.count == 1 ? "the filter " : "the filters ") + filters.map(\.description).joined(separator: " and ")
    }
}

extension Worker {
    /// What is known of whose code it runs, or ran when it ended.
    var suspicion: Suspicion {
        let known = crash?.filter.map { [$0] } ?? running
        let chains = task?.outputs.flatMap(\.stages).map(\.name) ?? []
        var filters: [Suspicion.Filter] = []
        for name in known.isEmpty ? chains : known {
            guard let file = files[name], !filters.contains(where: { $0.name == name }) else { continue }
            filters.append(Suspicion.Filter(name: name, file: file))
        }
        return Suspicion(
            filters: filters, isCertain: !known.isEmpty && !filters.isEmpty,
            isOutOfMemory: crash?.isOutOfMemory ?? false)
    }
}

extension WorkerFailure {
    /// With the file of the filter that is to blame.
    func naming(_ files: [String: String]) -> WorkerFailure {
        guard let file = filter.flatMap({ files[$0] }) else { return self }
        var named = self
        named.advice = (advice.map { "\($0); " } ?? "") + "it comes from \(file)"
        return named
    }
}
