/// Goes through the sections of a recipe's file and collects what they say, and all that is wrong with them.
struct RecipeReader {
    private let file: ConfigurationText
    private let catalog: StageCatalog
    private let inherited: RecipeDraft

    private(set) var draft: RecipeDraft
    private(set) var outputs: [RecipeOutput] = []
    private(set) var problems: [Problem] = []
    private(set) var inboxLine: Int?
    /// All that have a section, those with a broken chain, too.
    private var outputNames: [String?] = []

    init(_ file: ConfigurationText, intake: InboxSettings, catalog: StageCatalog) {
        self.file = file
        self.catalog = catalog
        inherited = RecipeDraft(intake: intake)
        draft = inherited
    }

    mutating func read(name: String) {
        if name.isEmpty || name.hasPrefix(".") {
            report(nil, "a recipe's file needs a name before \(RecipeFile.suffix) that does not begin with a dot")
        }
        let contents = SectionedText(file)
        problems += contents.problems
        for section in contents.sections {
            let words = section.header.split(maxSplits: 1) { $0.isWhitespace }.map(\.trimmed)
            switch (words[0], words.dropFirst().first) {
            case ("Recipe", nil), ("Inbox", nil): readSettings(section)
            case ("Output", let name): readOutput(section, name: name)
            default:
                let advice = suggestion(for: "[\(section.header)]", among: ["[Recipe]", "[Inbox]", "[Output]"])
                report(section.line, "unknown section [\(section.header)]; \(advice)")
            }
        }
        if outputNames.isEmpty, problems.isEmpty {
            report(nil, "no [Output] section; add one with a Chain=")
        }
    }

    private mutating func readSettings(_ section: SectionedText.Section) {
        for assignment in section.assignments {
            do throws(Refusal) {
                try RecipeDraft.table.assign(
                    assignment.value.text, to: assignment.key, in: section.header, of: &draft, base: inherited)
                if assignment.key == "Inbox" { inboxLine = assignment.line }
            } catch {
                report(assignment.line, error.sentence)
            }
        }
    }

    private mutating func readOutput(_ section: SectionedText.Section, name: String?) {
        if let name, !name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }) {
            report(section.line, "'\(name)' can't be the name of an output; use letters, digits, - and _")
        }
        if outputNames.contains(name) {
            report(section.line, "[\(section.header)] for the second time; give each output a name of its own")
        }
        outputNames.append(name)

        var output = OutputDraft()
        var place: PlacedText?
        let before = problems.count
        for assignment in section.assignments {
            do throws(Refusal) {
                try OutputDraft.table.assign(
                    assignment.value.text, to: assignment.key, in: "Output", of: &output, base: OutputDraft())
                place = assignment.value
            } catch {
                report(assignment.line, error.sentence)
            }
        }
        guard let text = output.chain, let place else {
            if problems.count == before { report(section.line, "[\(section.header)] without a Chain=") }
            return
        }
        do throws(ChainProblem) {
            outputs.append(RecipeOutput(name: name, chain: try Chain(parsing: text, catalog: catalog)))
        } catch {
            let (line, column) = place.place(at: error.column - 1)
            report(line, error.moved(to: column).message)
        }
    }

    private mutating func report(_ line: Int?, _ message: String) {
        problems.append(Problem(file: file.name, line: line, message: message))
    }
}
