import PipelineControl

extension Verb {
    static let recipes = Verb(
        name: "recipes",
        summary: "show the recipes; start, save or remove one",
        usage: "[new NAME [--from KIND] [--to DIR] | save NAME CHAIN | remove NAME]",
        discussion: [
            "`new` writes a recipe with comments into the daemon's folder, and has the daemon check it: it is in force",
            "after `pipectl reload`. An existing file is not changed. A recipe named after a KIND starts as that kind.",
            "`save` has the daemon store a recipe of one chain in its state folder, and puts it into force",
            "at once, as the page does; it makes the recipe, or changes it. `remove` removes such a recipe. Anyone who",
            "may use the socket may do both: these recipes can't name a folder or a program.",
        ],
        arguments: [
            Argument(
                "new|save|remove", count: 0...1, kinds: [.oneOf(["new", "save", "remove"])],
                "start a recipe of your own; have the daemon store one, or remove a stored one"),
            Argument("NAME", count: 0...1, behind: ["new", "save"], "its name, which its inbox and outbox also get"),
            Argument("NAME", count: 0...1, kinds: [.recipe], behind: ["remove"], "the recipe"),
            Argument("CHAIN", count: 0...1, kinds: [.chain], behind: ["save"], "the chain of its only output"),
        ],
        options: [.recipeKind, .recipeFolder],
        examples: [
            Example("pipectl recipes --json | jq -r .inbox", "every inbox"),
            Example("pipectl recipes new shop --from square", "start a recipe of your own"),
            Example("pipectl recipes save small 'resize width=800 | save format=webp'", "a recipe in one command"),
        ],
        run: { context in
            let words = context.invocation.arguments
            guard words.isEmpty else {
                try changeRecipes(words, context)
                return .done
            }
            for option in [Option.recipeKind, .recipeFolder] where context.invocation.has(option) {
                throw Failure.usage("\(option.name) is for a new recipe: pipectl recipes new NAME \(option.written)")
            }
            let recipes = try context.call(Call.Recipes()).recipes
            if context.json {
                for recipe in recipes { try context.output.object(recipe) }
            } else {
                let pages = recipes.map { lines($0, width: context.output.columns) }
                try context.output.lines(recipes.isEmpty ? ["no recipes"] : Array(pages.joined(separator: [""])))
            }
            return .done
        })

    private static func lines(_ recipe: Control.Recipe, width: Int?) -> [Text] {
        var table = Table([.init(title: ""), .init(title: "", fit: .words)])
        func fact(_ name: String, _ value: String?) {
            if let value { table.add(Text("  " + name, .faint), Text(value)) }
        }
        if let problem = recipe.problem { table.add(Text("  problem", .bad), Text(problem, .bad)) }
        fact("file", recipe.file ?? "built in")
        fact("inbox", recipe.inbox)
        fact("outbox", recipe.outbox)
        fact("match", recipe.match.joined(separator: " "))
        fact("original", recipe.original)
        fact("conflict", recipe.conflict)
        fact("truncated", recipe.onTruncated)
        fact("raw", recipe.raw)
        fact("priority", recipe.priority)
        if recipe.fleet == "no" { fact("fleet", "no: rendered only here") }
        fact("hours", recipe.hours.map { "\($0); at other times its pictures wait" })
        if let share = recipe.share, share > 1 { fact("share", "\(share) turns for each turn of other recipes") }
        let failures = recipe.hookFailures > 0 ? " (\(recipe.hookFailures) failed)" : ""
        fact("hook", recipe.hook.map { $0 + failures })
        for (name, chain) in recipe.chains.sorted(by: { $0.key < $1.key }) {
            fact(name.isEmpty ? "chain" : "chain \(name)", chain)
            fact(name.isEmpty ? "when" : "when \(name)", recipe.conditions?[name])
        }
        for name in recipe.names { fact("name\(name.output.map { " \($0)" } ?? "")", name.name) }
        let head: Text = "\(recipe.name, .strong)"
        return [recipe.description.map { head + "  \($0)" } ?? head] + table.lines(width: width)
    }
}
