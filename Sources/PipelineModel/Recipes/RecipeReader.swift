/// Reads the sections of a recipe file; collects the settings and all problems.
struct RecipeReader {
    private let file: ConfigurationText
    private let recipe: String
    private let catalog: StageCatalog
    private let mostStages: Int
    private let inherited: RecipeDraft

    private(set) var draft: RecipeDraft
    private(set) var outputs: [RecipeOutput] = []
    private(set) var problems: [Problem] = []
    private(set) var inboxLine: Int?
    private(set) var outboxPlace: SettingPlace?
    /// Names of all outputs and tees, including outputs with a broken chain.
    private var outputNames: [String?] = []
    /// Line of each output's own `Name=`, by output name. `commonNameLine` is the line of the `Name=` in [Recipe].
    private var namePlaces: [String?: Int] = [:]
    private var commonNameLine: Int?

    init(_ file: ConfigurationText, recipe: String, settings: Settings, catalog: StageCatalog) {
        (self.file, self.recipe, self.catalog, mostStages) = (file, recipe, catalog, settings.maxStages)
        inherited = RecipeDraft(intake: settings.intake)
        draft = inherited
    }

    mutating func read() {
        let contents = SectionedText(file)
        problems += contents.problems
        let known = RecipeDraft.table.sections().map { "[\($0)]" }
        for section in contents.sections {
            let words = section.header.split(maxSplits: 1) { $0.isWhitespace }.map(\.trimmed)
            switch (words[0], words.dropFirst().first) {
            case ("Recipe", nil), ("Inbox", nil): readSettings(section, of: section.header)
            case ("Output", let name): readOutput(section, name: name)
            default:
                let advice = suggestion(for: "[\(section.header)]", among: known)
                report(section.line, "unknown section [\(section.header)]; \(advice)")
            }
        }
        if outputNames.count > Chain.mostResults {
            report(nil, "more than \(Chain.mostResults) results, tees included; put the others into a second recipe")
        }
        if outputNames.isEmpty, problems.isEmpty {
            report(nil, "no [Output] section; add one with a Chain=")
        }
        for index in outputs.indices {
            outputs[index].naming = outputs[index].naming ?? draft.naming
            guard let common = draft.condition else { continue }
            outputs[index].condition = outputs[index].condition.map(common.and) ?? common
        }
        for twin in ResultTwins(of: outputs, recipe: recipe).mistakes {
            report(namePlaces[twin.output] ?? commonNameLine, twin.message)
        }
    }

    private mutating func readOutput(_ section: SectionedText.Section, name: String?) {
        if let name, !RecipeOutput.isName(name) {
            report(section.line, "'\(name)' can't be the name of an output; use letters, digits, - and _")
        }
        if outputNames.contains(name) {
            report(section.line, "[\(section.header)] for the second time; give each output a name of its own")
        }
        outputNames.append(name)

        (draft.chain, draft.outputNaming, draft.outputCondition) = (nil, nil, nil)
        let problemsBefore = problems.count
        readSettings(section, of: "Output")
        guard let text = draft.chain, let written = section.assignments.last(where: { $0.key == "Chain" })?.value else {
            if problems.count == problemsBefore { report(section.line, "[\(section.header)] without a Chain=") }
            return
        }
        do throws(ChainProblem) {
            let chain = try Chain(parsing: text, catalog: catalog, mostStages: mostStages)
            outputs.append(
                RecipeOutput(name: name, chain: chain, naming: draft.outputNaming, condition: draft.outputCondition))
            namePlaces[name] = section.assignments.last { $0.key == "Name" }?.line
            for tee in chain.tees {
                if outputNames.contains(tee) {
                    report(written.place(at: 0).line, "two results are called '\(tee)'; give each a name of its own")
                }
                outputNames.append(tee)
            }
        } catch {
            let (line, column) = written.place(at: error.column - 1)
            report(line, error.moved(to: column).message)
        }
    }

    private mutating func readSettings(_ section: SectionedText.Section, of name: String) {
        for assignment in section.assignments {
            do throws(Refusal) {
                try RecipeDraft.table.assign(
                    assignment.value.text, to: assignment.key, in: name, of: &draft, base: inherited)
                if assignment.key == "Inbox" { inboxLine = assignment.line }
                if assignment.key == "Outbox" { outboxPlace = SettingPlace(assignment.value) }
                if name == "Recipe", assignment.key == "Name" { commonNameLine = assignment.line }
            } catch {
                var (refusal, line) = (error, assignment.line)
                if let column = refusal.column {
                    let place = assignment.value.place(at: column - 1)
                    (refusal.column, line) = (place.column, place.line)
                }
                report(line, refusal.sentence)
            }
        }
    }

    private mutating func report(_ line: Int?, _ message: String) {
        problems.append(Problem(file: file.name, line: line, message: message))
    }
}
