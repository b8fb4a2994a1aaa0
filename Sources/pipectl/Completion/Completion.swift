/// Completes a command line from the tables of verbs and options and from the daemon's current state.
struct Completion {
    private let draft: CommandDraft
    private let daemon: LiveWords

    init(_ draft: CommandDraft, _ daemon: LiveWords) {
        (self.draft, self.daemon) = (draft, daemon)
    }

    var candidates: [Candidate] {
        if draft.isLost { return [] }
        if let option = draft.open { return values(option, draft.word) }
        let parts = draft.word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        if !draft.optionsAreOver, Parser.isOption(draft.word) || draft.word == "-" {
            guard parts.count == 2 else { return options.filter { $0.word.hasPrefix(draft.word) } }
            guard let option = draft.option(parts[0]) else { return [] }
            return values(option, parts[1]).map { isFile($0) ? $0 : Candidate("\(parts[0])=\($0.word)", $0.help) }
        }
        let found = words
        return found.isEmpty && draft.word.isEmpty ? options : found
    }

    /// Options to offer; a flag that is already given is left out.
    private var options: [Candidate] {
        draft.known.filter { $0.value != nil || draft.options[$0.name] == nil }.map { Candidate($0.name, $0.help) }
    }

    private var words: [Candidate] {
        guard let verb = draft.verb else { return candidates(.verb, draft.word) }
        let more = draft.half.map { values($0, draft.word) } ?? []
        return more
            + verb.arguments(at: draft.arguments.count, behind: draft.arguments.first).flatMap(\.kinds)
            .flatMap { candidates($0, draft.word) }
            .filter { candidate in !draft.arguments.contains(candidate.word) && !more.contains(candidate) }
    }

    /// Completes an option's value. In a comma-separated list, completes the last element.
    private func values(_ option: Option, _ word: String) -> [Candidate] {
        option.kinds.flatMap { kind in
            guard kind.standsInLists, let comma = word.lastIndex(of: ",") else { return candidates(kind, word) }
            let before = word[...comma]
            let there = before.split(separator: ",").map(String.init)
            return candidates(kind, String(word[word.index(after: comma)...]))
                .filter { !there.contains($0.word) }.map { Candidate(before + $0.word, $0.help) }
        }
    }

    private func candidates(_ kind: WordKind, _ word: String) -> [Candidate] {
        let all: [Candidate] =
            switch kind {
            case .oneOf(let words): words.map { Candidate($0) }
            case .verb: Verb.all.map { Candidate($0.name, $0.summary) }
            case .file: [.files]
            case .folder: [.folders]
            case .job(let states): daemon.jobs(states)
            case .batch: daemon.batches
            case .recipe: daemon.recipes
            case .queue: daemon.queues
            case .node: daemon.nodes
            case .stage: daemon.stages
            case .chain: daemon.chains(word)
            }
        return all.filter { isFile($0) || $0.word.hasPrefix(word) }
    }

    private func isFile(_ candidate: Candidate) -> Bool { candidate == .files || candidate == .folders }
}

extension WordKind {
    fileprivate var standsInLists: Bool {
        switch self {
        case .job, .oneOf: true
        default: false
        }
    }
}

extension Verb {
    /// The verb's arguments that are valid at a position, given the first argument.
    fileprivate func arguments(at position: Int, behind first: String?) -> [Argument] {
        var (least, most) = (0, 0)
        let claiming = arguments.filter { argument in first.map(argument.behind.contains) ?? false }
        let offered = claiming.isEmpty ? arguments.filter(\.behind.isEmpty) : claiming
        return offered.filter { argument in
            defer { least += argument.count.lowerBound }
            most += min(argument.count.upperBound, Int.max - most)
            return (least..<most).contains(position)
        }
    }
}
