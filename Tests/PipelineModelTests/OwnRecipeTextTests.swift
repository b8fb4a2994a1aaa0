import Testing

@testable import PipelineModel

@Suite("Recipes that clients make")
struct OwnRecipeTextTests {
    private static func text(
        _ name: String = "small", description: String? = nil, chain: String = "noir", output: String? = nil,
        naming: String? = nil
    ) throws -> String {
        let output = OwnRecipe.Output(name: output, chain: chain, naming: naming)
        return try OwnRecipe(name: name, description: description, outputs: [output]).text()
    }

    @Test("the file contains the values that the client sent")
    func written() throws {
        let recipe = OwnRecipe(
            name: "small", description: "For the web; 50 % # smaller",
            outputs: [
                .init(
                    name: nil, chain: #"resize scale=0.5 | watermark text="a ; # b" | save format=webp"#, naming: nil),
                .init(name: "thumb", chain: "resize width=64", naming: "{date:%Y}/{stem}"),
            ])
        let file = ConfigurationText(name: "small.recipe", text: try recipe.text())
        let read = Configuration.load(settings: [], recipes: [file], catalog: .builtIn).configuration
        let all = read.recipes + read.held.map(\.recipe)
        let made = try #require(all.first { $0.name == "small" })
        #expect(made.description == recipe.description)
        #expect(made.outputs.map(\.name) == [nil, "thumb"] || !read.held.isEmpty)
    }

    @Test(
        "a value that would be read as something else is refused",
        arguments: [
            "noir\nHook=/bin/sh", "noir\n[Recipe]\nInbox=/", "noir \\", " noir", "noir ", "noir\r\n[Output x]",
            "\u{2028} x ",
        ])
    func injected(_ value: String) throws {
        #expect(throws: Refusal.self) { try Self.text(chain: value) }
        #expect(throws: Refusal.self) { try Self.text(description: value) }
        #expect(throws: Refusal.self) { try Self.text(naming: value) }
    }

    @Test("an output's name can't begin another section", arguments: ["a]\n[Recipe", "a\nHook=/bin/sh", " a", "a]"])
    func outputs(_ name: String) throws {
        do {
            let text = try Self.text(output: name)
            let read = SectionedText(ConfigurationText(name: "x", text: text)).sections
            #expect(read.map(\.header) == ["Recipe", "Output \(name)"] && !name.contains("\n"))
        } catch is Refusal {}
    }

    @Test(
        "a name that can't be a folder's is refused",
        arguments: ["", ".a", "a/b", "a b", "ä", "-a", String(repeating: "a", count: 61)])
    func names(_ name: String) throws {
        #expect(throws: Refusal.self) { try Self.text(name) }
        #expect(throws: Never.self) { try Self.text(String(repeating: "a", count: 60)) }
    }
}
