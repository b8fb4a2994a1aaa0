import PipelineControl

/// Completes the last stage of a chain: its name, a parameter, or a parameter's value.
struct ChainCompletion {
    private let before: String
    private let word: String
    private let stage: Control.Stage?
    private let stages: [Control.Stage]

    init(_ chain: String, stages: [Control.Stage]) {
        let start = chain.lastIndex(of: "|").map(chain.index(after:)) ?? chain.startIndex
        let wordStart = chain.lastIndex(of: " ").map { max(chain.index(after: $0), start) } ?? start
        let name = chain[start..<wordStart].split(separator: " ").first
        before = String(chain[..<wordStart])
        word = String(chain[wordStart...])
        stage = name.flatMap { name in stages.first { $0.name == name } }
        self.stages = name == nil || stage != nil ? stages : []
    }

    var candidates: [Candidate] {
        found.map { Candidate(before + $0.word, $0.help) }
    }

    private var found: [Candidate] {
        guard let stage else { return stages.map { Candidate($0.name, $0.summary) } }
        guard let equals = word.firstIndex(of: "=") else {
            return stage.parameters.map { Candidate("\($0.name)=", $0.help) }
        }
        guard let parameter = stage.parameters.first(where: { $0.name == word[..<equals] }) else { return [] }
        let values = parameter.type == "boolean" ? ["yes", "no"] : parameter.choices
        return values.map { Candidate("\(parameter.name)=\($0)") }
    }
}
