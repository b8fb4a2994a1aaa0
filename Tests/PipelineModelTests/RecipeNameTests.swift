import PipelineModel
import Testing

struct RecipeNameTests {
    private func load(_ text: String) -> (outputs: [RecipeOutput]?, problems: [String]) {
        let loaded = Configuration.load(
            settings: [], recipes: [ConfigurationText(name: "a.recipe", text: text)], catalog: .withNoir)
        let recipe = loaded.configuration.recipes.first { $0.name == "a" }
        return (recipe?.outputs, loaded.problems.map(\.description))
    }

    @Test("A recipe's Name= applies to all its outputs, and an output's own Name= overrides it, in any order")
    func inherited() {
        let loaded = load(
            """
            [Output]
            Chain=noir
            [Output thumb]
            Chain=noir
            Name=thumbs/{stem}
            [Recipe]
            Name={date:%Y}/{stem}-{output}
            """)
        #expect(loaded.problems == [])
        #expect(loaded.outputs?.map(\.naming?.text) == ["{date:%Y}/{stem}-{output}", "thumbs/{stem}"])
        #expect(
            load("[Output]\nChain=noir\n[Output b]\nChain=noir\nName=x{stem}").outputs?.map(\.naming?.text) == [
                nil, "x{stem}",
            ])
    }

    @Test(
        "A mistake in Name= is reported with file, line, column and remedy",
        arguments: [
            (
                "[Recipe]\nName={stme}\n[Output]\nChain=noir",
                "a.recipe:2: Name={stme} has the unknown field '{stme}' at column 6; did you mean '{stem}'?"
            ),
            (
                "[Output]\nChain=noir\n  Name = {date}/../x",
                "a.recipe:3: Name={date}/../x has a name that begins with '.' at column 17; begin it otherwise: hidden files and '..' are left out"
            ),
            (
                "[Output]\nChain=noir\nName=a/\\\n{stm}",
                "a.recipe:4: Name=a/ {stm} has the unknown field '{stm}' at column 1; did you mean '{stem}'?"
            ),
            (
                "[Inbox]\nName={stem}\n[Output]\nChain=noir",
                "a.recipe:2: unknown setting 'Name' in [Inbox]; it belongs in [Recipe]"
            ),
            (
                "[Output]\nChain=noir\nName={output}",
                "a.recipe:3: Name={output} gives [Output] no name; add {stem} to it"
            ),
            (
                "[Recipe]\nName=x/{album}\n[Output b]\nChain=noir",
                "a.recipe:2: Name=x/{album} gives [Output b] no name; add {stem} to it"
            ),
            (
                "[Recipe]\nName={stem}\n[Output]\nChain=noir\n[Output b]\nChain=resize scale=0.5",
                "a.recipe:2: [Output] and [Output b] both make {stem}.jpg; put {output} into Name="
            ),
            (
                "[Output]\nChain=noir\nName={stem}-b\n[Output b]\nChain=noir\nName={stem}-{output}",
                "a.recipe:6: [Output] and [Output b] both make {stem}-b.jpg; put {output} into Name="
            ),
            (
                "[Output jpg]\nChain=noir\n[Output b]\nChain=noir\nName={stem}",
                "a.recipe:5: [Output jpg] and [Output b] both make {stem}.jpg; put {output} into Name="
            ),
            (
                "[Output b]\nChain=noir | tee c | resize scale=0.5\nName={stem}",
                "a.recipe:3: tee c and [Output b] both make {stem}.jpg; put {output} into Name="
            ),
        ])
    func refusals(text: String, problem: String) {
        #expect(load(text).problems == [problem])
    }

    @Test(
        "Results that may differ are not a mistake",
        arguments: [
            "[Recipe]\nName={stem}\n[Output]\nChain=noir\n[Output b]\nChain=noir | save format=png",
            "[Recipe]\nName={stem}-{width}\n[Output]\nChain=noir\n[Output b]\nChain=resize scale=0.5",
            "[Recipe]\nName={stem}-{output}\n[Output]\nChain=tee small | noir\n[Output b]\nChain=noir",
            "[Recipe]\nName={date}/{stem}/{output}\n[Output a]\nChain=noir\n[Output b]\nChain=noir",
            "[Output]\nChain=noir\nName=x/{stem}\n[Output jpg]\nChain=noir\n[Output b]\nChain=noir",
            "[Output]\nChain=noir\nName={stem}\n[Output b]\nChain=noir\nName={name}",
        ])
    func differing(text: String) {
        #expect(load(text).problems == [])
    }
}
