import PipelineModel
import Testing

struct RecipeTests {
    private func load(
        _ recipes: KeyValuePairs<String, String>, settings: String = "", catalog: StageCatalog = .withNoir
    ) -> (configuration: Configuration, problems: [String]) {
        let loaded = Configuration.load(
            settings: [ConfigurationText(name: "pipelined.conf", text: settings)],
            recipes: recipes.map { ConfigurationText(name: $0.key, text: $0.value) }, catalog: catalog)
        return (loaded.configuration, loaded.problems.map(\.description))
    }

    private let output = "[Output]\nChain=noir\n"

    @Test("Without any file there is the noir recipe with inbox/")
    func builtIn() {
        let loaded = load([:])
        #expect(loaded.problems == [])
        #expect(loaded.configuration.recipes == [loaded.configuration.defaultRecipe])
        let noir = loaded.configuration.defaultRecipe
        #expect(noir.name == "noir")
        #expect(noir.description == "Half size, black and white")
        #expect(noir.file == nil)
        #expect(noir.inbox == "")
        #expect(noir.outbox == "noir")
        #expect(noir.outputs.map(\.chain.text) == ["resize scale=0.5 | noir | save format=jpeg quality=85"])
        #expect(noir.matches("IMG_1.JPG"))
        #expect(noir.matches("a.heic"))
        #expect(noir.matches("a.CR2") && noir.matches("a.bmp"))
        #expect(!noir.matches("a.psd"))
    }

    @Test("Without the noir plugin the built-in recipe reports that and stays, without its output")
    func builtInWithoutPlugin() {
        let loaded = load([:], catalog: .builtIn)
        #expect(
            loaded.problems == [
                "built-in recipe noir: unknown stage 'noir' at column 20; it may be barrier, resize, save, tee"
            ])
        #expect(loaded.configuration.defaultRecipe.outputs == [])
    }

    @Test("A recipe's file can set everything, and inherits the rest")
    func wholeFile() throws {
        let loaded = load(
            [
                "/etc/recipes.d/web.recipe": """
                # For the shop
                [Recipe]
                Description=Shop pictures
                Inbox=shop//./new/
                Outbox=/srv/shop
                Match=*.jpg "my *.png"
                Match=*.tif
                Original=keep
                Conflict=replace
                OnTruncated=accept
                Raw=develop
                Priority=low

                [Inbox]
                Settle=2s

                [Output]
                Chain=resize width=1600 | \\
                      noir

                [Output thumb]
                Chain=resize width=320 | save format=webp
                """
            ], settings: "[Inbox]\nWatch=poll\nSettle=9s")
        #expect(loaded.problems == [])
        #expect(loaded.configuration.recipes.map(\.name) == ["noir", "web"])
        let web = try #require(loaded.configuration.recipes.last)
        #expect(web.description == "Shop pictures")
        #expect(web.file == "/etc/recipes.d/web.recipe")
        #expect(web.inbox == "shop/new")
        #expect(web.outbox == "/srv/shop")
        #expect(web.match == ["*.jpg", "my *.png", "*.tif"])
        #expect(web.original == .keep)
        #expect(web.conflict == .replace)
        #expect(web.onTruncated == .accept && web.raw == .develop)
        #expect(web.priority == .low)
        #expect(web.intake.watch == .poll)
        #expect(web.intake.settle == .seconds(2))
        #expect(web.outputs.map(\.name) == [nil, "thumb"])
        #expect(Planner.plan(outputs: web.outputs, inBatch: false).results.map(\.suffix) == ["jpg", "webp"])
    }

    @Test("Every setting of a recipe has help, and is understood by the parser")
    func reference() {
        let values = [
            "Description": "x", "Inbox": "x", "Outbox": "x", "Match": "*.x", "Original": "delete", "Conflict": "skip",
            "OnTruncated": "accept", "Raw": "develop", "Priority": "high", "Chain": "noir", "Hook": "/usr/bin/true",
            "Name": "{stem}-{output}",
        ]
        let text = Dictionary(grouping: Recipe.settings, by: \.section).map { section, settings in
            "[\(section)]\n" + settings.map { "\($0.key)=\(values[$0.key] ?? $0.default)\n" }.joined()
        }.joined()
        #expect(load(["a.recipe": text]).problems == [])
        #expect(Recipe.settings.allSatisfy { !$0.help.isEmpty })
        #expect(Recipe.settings.contains { $0.section == "Recipe" && $0.key == "Original" && $0.default == "archive" })
    }

    @Test("A recipe's inbox is a folder with its name, and the default recipe's is inbox/ itself")
    func inboxes() {
        let loaded = load(["a.recipe": output, "b.recipe": output], settings: "[Daemon]\nDefaultRecipe=b")
        #expect(loaded.problems == [])
        #expect(loaded.configuration.recipes.map(\.name) == ["a", "b"])
        #expect(loaded.configuration.recipes.map(\.inbox) == ["a", ""])
        #expect(loaded.configuration.defaultRecipe.name == "b")
    }

    @Test("An empty Match restores the default patterns")
    func matchIsReset() {
        let loaded = load(["a.recipe": "[Recipe]\nMatch=*.xyz\nMatch=\n" + output])
        #expect(loaded.configuration.recipes.first?.match == Recipe.pictures)
    }

    @Test("A recipe's chain has at most MaxStages stages")
    func mostStages() {
        func problems(_ most: Int) -> [String] {
            load(["a.recipe": "[Output]\nChain=noir | noir | save\n"], settings: "[Daemon]\nMaxStages=\(most)").problems
        }
        #expect(problems(3) == [])
        #expect(
            problems(2).first?.hasPrefix("a.recipe:2: the chain has 3 stages, and MaxStages= in [Daemon] allows 2")
                == true)
        #expect(problems(2).first?.contains("column 21") == true, "\(problems(2))")
        #expect(problems(Settings.mostStages) == [] && problems(Settings.mostStages + 1).count == 1)
    }

    @Test("A mistake in a chain is reported with the file's own line and column")
    func chainProblem() {
        let loaded = load([
            "noir.recipe": "# one\n# two\n[Recipe]\nDescription=x\n\n[Output]\nChain=resize scale=0.5|niro"
        ])
        #expect(
            loaded.problems == ["noir.recipe:7: unknown stage 'niro' at column 24; did you mean 'noir'?"])
    }

    @Test("A mistake in a continued line is reported on that line")
    func continuedChainProblem() {
        let loaded = load(["a.recipe": "[Output]\n Chain = resize scale=0.5 | \\\n# half\n   niro | \\\n save"])
        #expect(loaded.problems == ["a.recipe:4: unknown stage 'niro' at column 4; did you mean 'noir'?"])
    }

    @Test(
        "A mistake in a recipe is reported, with its remedy",
        arguments: [
            ("", "a.recipe: no [Output] section; add one with a Chain="),
            ("[Output]", "a.recipe:1: [Output] without a Chain="),
            ("[Output x]\nChain=noir\nChain=", "a.recipe:1: [Output x] without a Chain="),
            ("[Outptu]\nChain=noir", "a.recipe:1: unknown section [Outptu]; did you mean '[Output]'?"),
            ("[Daemon]\n", "a.recipe:1: unknown section [Daemon]; it may be [Recipe], [Output], [Inbox]"),
            ("[Output]\nChian=noir", "a.recipe:2: unknown setting 'Chian' in [Output]; did you mean 'Chain'?"),
            (
                "[Output]\nChain=noir\n[Output]\nChain=noir",
                "a.recipe:3: [Output] for the second time; give each output a name of its own"
            ),
            (
                "[Output x]\nChain=noir\n[Output  x]\nChain=noir",
                "a.recipe:3: [Output  x] for the second time; give each output a name of its own"
            ),
            (
                "[Output ../x]\nChain=noir",
                "a.recipe:1: '../x' can't be the name of an output; use letters, digits, - and _"
            ),
            (
                "[Recipe]\nInbox=a/../b\n[Output]\nChain=noir",
                "a.recipe:2: Inbox=a/../b has '..' in it; name a folder below, or an absolute one"
            ),
            (
                "[Recipe]\nOriginal=archiv\n[Output]\nChain=noir",
                "a.recipe:2: Original=archiv is unknown; did you mean 'archive'?"
            ),
            (
                "[Recipe]\nChain=noir\n[Output]\nChain=noir",
                "a.recipe:2: unknown setting 'Chain' in [Recipe]; it belongs in [Output]"
            ),
            (
                "[Recipe]\nSettle=1s\n[Output]\nChain=noir",
                "a.recipe:2: unknown setting 'Settle' in [Recipe]; it belongs in [Inbox]"
            ),
            (
                "[Recipe]\nMatch=\"*.jpg\n[Output]\nChain=noir",
                "a.recipe:2: Match=\"*.jpg has an unclosed quote; close it"
            ),
        ])
    func refusals(text: String, message: String) {
        let loaded = load(["a.recipe": text])
        #expect(loaded.problems == [message])
        #expect(loaded.configuration.recipes.map(\.name) == ["noir"])
    }

    @Test("Two recipes can't share an inbox")
    func sharedInbox() {
        let loaded = load([
            "a.recipe": output, "b.recipe": "[Recipe]\nInbox=./a/\n" + output,
            "c.recipe": "[Recipe]\nInbox=.\n" + output,
        ])
        #expect(
            loaded.problems == [
                "b.recipe:2: the inbox inbox/a belongs to recipe 'a' already; give one of them another Inbox=",
                "c.recipe:2: the inbox inbox/ belongs to recipe 'noir' already; give one of them another Inbox=",
            ])
    }

    @Test("Two files can't share a recipe's name, and every file's name must be a valid one")
    func names() {
        let loaded = load(["x/a.recipe": output, "y/a.recipe": output, ".recipe": output])
        #expect(
            loaded.problems == [
                "y/a.recipe: recipe 'a' is in x/a.recipe already; rename one of the files",
                ".recipe: '' can't be the name of a recipe; give the file a name before .recipe that does not begin with a dot",
            ])
        #expect(loaded.configuration.recipes.map(\.name) == ["a", "noir"])
    }

    @Test("A missing default recipe is a problem with its position, and no other recipe takes its inbox")
    func unknownDefault() {
        let loaded = load(["web.recipe": output], settings: "\n[Daemon]\nDefaultRecipe=wbe")
        #expect(loaded.problems == ["pipelined.conf:3: DefaultRecipe=wbe names no recipe; did you mean 'web'?"])
        #expect(loaded.configuration.recipes.map(\.name) == ["web"])
        #expect(loaded.configuration.held.map(\.recipe) == [loaded.configuration.defaultRecipe])
        #expect(loaded.configuration.defaultRecipe.name == "wbe" && loaded.configuration.defaultRecipe.inbox == "")
    }

    @Test("A broken default recipe stays the default, and is held")
    func brokenDefault() {
        let loaded = load(["noir.recipe": output + "[Output thumb]\nChain=nori"])
        #expect(loaded.problems == ["noir.recipe:4: unknown stage 'nori' at column 7; did you mean 'noir'?"])
        #expect(loaded.configuration.recipes == [])
        #expect(loaded.configuration.held.map(\.recipe) == [loaded.configuration.defaultRecipe])
    }

    @Test("A recipe with problems is held, with the first as its reason; other problems concern all recipes")
    func held() {
        let (configuration, problems) = Configuration.load(
            settings: [ConfigurationText(name: "pipelined.conf", text: "[Queues]\nRender=many\n")],
            recipes: [
                ConfigurationText(name: "a.recipe", text: output),
                ConfigurationText(name: "b.recipe", text: "[Recipe]\nInbux=x\n[Output]\nChain=niro\n"),
                ConfigurationText(name: "c.recipe", text: "[Recipe]\nInbox=a\n" + output),
            ], unread: [Problem(file: "x/d.recipe", line: nil, message: "can't be read: Permission denied")],
            catalog: .withNoir)
        #expect(configuration.recipes.map(\.name) == ["noir"])
        #expect(configuration.held.map(\.recipe.name) == ["a", "b", "c", "d"], "one of a and c is wrong")
        #expect(configuration.held.map(\.problems.count) == [1, 2, 1, 1])
        let reasons = configuration.held.map(\.reason)
        #expect(reasons[0] == reasons[2].replacing("'c'", with: "'a'", maxReplacements: 1), "\(reasons)")
        #expect(
            reasons[1]
                == "the recipe 'b' can't be used: b.recipe:2: unknown setting 'Inbux' in [Recipe]; did you mean 'Inbox'? "
                + "(and 1 more); mend it, then `pipectl reload`", "\(reasons)")
        #expect(reasons[3].contains("x/d.recipe: can't be read"))
        #expect(configuration.held[3].recipe.inbox == "d")
        #expect(configuration.common(problems).map(\.file) == ["pipelined.conf"])
    }

    @Test("Of two recipes with one inbox, the one that had it before keeps it", arguments: ["a", "b"])
    func keepsInbox(name: String) {
        let texts = ["a", "b"].map { ConfigurationText(name: "\($0).recipe", text: "[Recipe]\nInbox=x\n" + output) }
        let (configuration, problems) = Configuration.load(
            settings: [], recipes: texts, lastInboxes: [name: "x"], catalog: .withNoir)
        #expect(configuration.recipes.map(\.name) == [name, "noir"])
        #expect(configuration.held.map(\.recipe.name) == [name == "a" ? "b" : "a"])
        #expect(problems.map(\.file) == [name == "a" ? "b.recipe" : "a.recipe"])
    }
}
