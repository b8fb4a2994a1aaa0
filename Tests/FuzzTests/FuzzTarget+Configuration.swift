import Foundation

@testable import PipelineModel
@testable import pipectl

/// Texts that users write: settings, recipes, chains and names.
extension FuzzTarget {
    static let configuration: [FuzzTarget] = [settings, recipes, chains, names, patterns, joinFiles]

    private static let settings = text(
        "settings", words: Settings.table.flatMap { ["[\($0.section)]", "\n\($0.key)="] } + ["[Host "]
    ) { text in
        let (configuration, _) = Configuration.load(
            settings: [ConfigurationText(name: "pipelined.conf", text: text)], recipes: [], catalog: catalog)
        for row in configuration.settings.rows
        where row.source != "default" && !row.section.hasPrefix(HostLogin.section) {
            var settings = Settings()
            do throws(Problem) {
                try settings.set(row.key, in: row.section, to: row.value, source: "again")
            } catch {
                preconditionFailure("a setting can't be read again: \(error)")
            }
            precondition(
                settings.rows.first { ($0.section, $0.key) == (row.section, row.key) }?.value == row.value,
                "a setting changes on its way: \(row.key)=\(row.value)")
        }
    }

    private static let recipes = text(
        "recipes", words: RecipeDraft.table.flatMap { ["[\($0.section)]", "\n\($0.key)="] } + ["[Output ", "Chain="]
    ) { text in
        let (configuration, _) = Configuration.load(
            settings: [], recipes: [ConfigurationText(name: "a.recipe", text: text)], catalog: catalog)
        for recipe in configuration.recipes {
            _ = recipe.matches("harbour.jpg")
            let plan = Planner.plan(outputs: recipe.outputs, inBatch: true)
            precondition(plan.results.count <= Chain.mostResults, "a recipe has too many results")
        }
    }

    private static let chains = text(
        "chains", words: catalog.stages.flatMap { ["\($0.name) "] + $0.parameters.map { " \($0.name)=" } }
    ) { text in
        let chain = try Chain(parsing: text, catalog: catalog)
        let again = try? Chain(parsing: chain.text, catalog: catalog)
        precondition(again == chain, "a chain means something else when it is read again")
        precondition(chain.stages.last?.name == "save", "a chain ends without save")
        let sent = try JSONEncoder().encode(chain)
        let kept = try? JSONDecoder().decode(Chain.self, from: sent)
        precondition(kept == chain, "a chain changes in the ledger")
        for stage in chain.stages {
            for text in stage.arguments.values.compactMap(\.text) {
                if let date, let credit = try? CreditText(text) { _ = credit.text(on: date) }
            }
        }
        for inBatch in [false, true] {
            let outputs = [RecipeOutput(name: nil, chain: chain, naming: nil)]
            precondition(!Planner.plan(outputs: outputs, inBatch: inBatch).results.isEmpty, "a chain makes nothing")
        }
    }

    /// Input lines: the template, then the picture's name, album, recipe, output and EXIF date.
    private static let names = text("names", words: NameField.allCases.map(\.example)) { text in
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        func line(_ number: Int) -> String? { number < lines.count ? lines[number] : nil }
        var facts = NameFacts()
        (facts.name, facts.album, facts.recipe, facts.output) = (line(1), line(2), line(3), line(4))
        facts.date = line(5).flatMap { PictureDate(exif: $0, source: .original) }
        (facts.counter, facts.width, facts.height, facts.format) = (7, 1600, 1200, "jpeg")
        facts.hash = String(repeating: "0123456789abcdef", count: 4)
        let template = try NameTemplate(line(0) ?? "")
        _ = template.isNameless(facts)
        for number in [0, 12] {
            let path = template.path(facts, number: number, suffix: "jpg")
            precondition(path.hasSuffix(".jpg"), "a result has no suffix: \(path)")
            // The kernel compares bytes, not characters.
            for name in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
                precondition(!name.isEmpty && name.first != UInt8(ascii: "."), "a name is empty, or hidden: \(path)")
                precondition(name.count <= NameTemplate.longest, "a name is too long: \(path)")
                precondition(name.allSatisfy { $0 >= 0x20 && $0 != 0x7f }, "a name has a control character: \(path)")
            }
        }
    }

    /// Input lines: the pattern and a file's name.
    private static let patterns = text("patterns") { text in
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard lines.count == 2 else { return }
        let matches = Glob(lines[0]).matches(lines[1])
        precondition(!matches || Glob(lines[0] + "*").matches(lines[1] + "a"), "a longer pattern matches less")
    }

    private static let joinFiles = FuzzTarget("join-files") { bytes in
        let text = try JoinFile(Data(bytes), from: "node.join").text
        let again = try JoinFile(Data(text.utf8), from: "node.join").text
        precondition(text == again, "a join file changes on its way")
    }

    private static let date = PictureDate(year: 2026, month: 11, day: 24, source: .file)

    /// A filter with a parameter of each kind.
    static let catalog = StageCatalog(filters: [
        StageDescription(
            name: "noir", summary: "black and white",
            parameters: [
                ParameterDescription(
                    name: "contrast", type: .number, minimum: 0, maximum: 4, defaultValue: "1.0", help: "steepness"),
                ParameterDescription(name: "grain", type: .boolean, defaultValue: "no", help: "film grain"),
                ParameterDescription(name: "tint", type: .colour, defaultValue: "#ffeedd", help: "lights"),
                ParameterDescription(name: "caption", type: .text, help: "text below"),
                ParameterDescription(
                    name: "edge", type: .choice, defaultValue: "none", choices: ["none", "soft"], help: "edge"),
                ParameterDescription(name: "size", type: .integer, minimum: 1, help: "size"),
            ], traits: [.lumaOnly, .pointwise], atMostOneOf: ["caption", "size"])
    ])
}
