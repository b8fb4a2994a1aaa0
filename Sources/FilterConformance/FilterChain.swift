import PipelineModel

/// Builds chains of one filter from the words on the command line.
struct FilterChain {
    let filter: StageDescription
    /// The `name=value` words of the command line, with file names in place of paths.
    let assignments: [String]

    init(filter: StageDescription, assignments: [String]) throws {
        self.filter = filter
        self.assignments = try assignments.map { assignment in
            let parts = assignment.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            guard parts.count == 2, !parts[1].isEmpty,
                filter.parameters.contains(where: { $0.name == parts[0] && $0.type == .file })
            else { return assignment }
            return try "\(parts[0])=\(GivenFiles.take(parts[1]))"
        }
    }

    /// Returns the stages of a chain: the filter, `times` times in a row, then `save`. `changes` override
    /// `assignments`.
    func stages(_ changes: [String: String] = [:], times: Int = 1, format: String = "png") throws -> [Stage] {
        var words = [filter.name] + changes.sorted { $0.key < $1.key }.map { Self.word($0.key, $0.value) }
        for assignment in assignments {
            guard let equals = assignment.firstIndex(of: "=") else { continue }
            let name = String(assignment[..<equals])
            if changes[name] == nil {
                words.append(Self.word(name, String(assignment[assignment.index(after: equals)...])))
            }
        }
        let stage = words.joined(separator: " ")
        let text = (Array(repeating: stage, count: times) + ["save format=\(format)"]).joined(separator: " | ")
        do throws(ChainProblem) {
            return try Chain(parsing: text, catalog: StageCatalog(filters: [filter], files: GivenFiles.names)).stages
        } catch {
            throw FilterTrouble("\(error.message), in: \(text)")
        }
    }

    /// Returns the same chain with example values for required parameters that have no value.
    func completed() throws -> FilterChain {
        let given = assignments.map { $0.prefix { $0 != "=" } }
        let examples = filter.parameters.filter { $0.isRequired && !given.contains($0.name[...]) }
            .map { "\($0.name)=\($0.example)" }
        let chain = try FilterChain(filter: filter, assignments: assignments + examples)
        guard !chain.isAccepted() else { return chain }
        let choices = filter.parameters.filter { filter.atLeastOneOf.contains($0.name) }
            .filter { $0.type != .file }.flatMap { parameter in
                ([parameter.example] + parameter.ends).map { "\(parameter.name)=\($0)" }
            }
        return choices.lazy.compactMap { try? FilterChain(filter: filter, assignments: chain.assignments + [$0]) }
            .first { $0.isAccepted() } ?? chain
    }

    /// Whether the daemon would accept these changes. A rule about several parameters, such as `atMostOneOf`, may
    /// forbid them.
    func isAccepted(_ changes: [String: String] = [:]) -> Bool { (try? stages(changes)) != nil }

    private static func word(_ name: String, _ value: String) -> String {
        let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\(name)=\"\(escaped)\""
    }
}
