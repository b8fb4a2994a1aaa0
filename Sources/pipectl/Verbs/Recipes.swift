import PipelineControl

extension Verb {
    static let recipes = Verb(
        name: "recipes",
        summary: "show the recipes, or begin one",
        usage: "[new NAME [--from KIND] [--to DIR]]",
        discussion: [
            "`new` writes a recipe with comments into the daemon's folder, and has the daemon try it: it is in force",
            "after `pipectl reload`. A file that is there is left as it is.",
        ],
        arguments: [
            Argument("new", count: 0...1, kinds: [.oneOf(["new"])], "begin a recipe of your own"),
            Argument("NAME", count: 0...1, behind: ["new"], "its name, and that of its inbox and outbox"),
        ],
        options: [.recipeKind, .recipeFolder],
        examples: [
            Example("pipectl recipes --json | jq -r .inbox", "every inbox"),
            Example("pipectl recipes new shop --from square", "begin a recipe of your own"),
        ],
        run: { context in
            let words = context.invocation.arguments
            guard words.isEmpty else {
                try beginRecipe(words, context)
                return .done
            }
            for option in [Option.recipeKind, .recipeFolder] where context.invocation.has(option) {
                throw Failure.usage("\(option.name) is for a new recipe: pipectl recipes new NAME \(option.written)")
            }
            let recipes = try context.call(Call.Recipes()).recipes
            if context.json {
                for recipe in recipes { try context.output.object(recipe) }
            } else {
                let pages = recipes.map(lines)
                try context.output.lines(recipes.isEmpty ? ["no recipes"] : Array(pages.joined(separator: [""])))
            }
            return .done
        })

    private static func lines(_ recipe: Control.Recipe) -> [Text] {
        var table = Table([.init(title: ""), .init(title: "")])
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
        if recipe.fleet == "no" { fact("fleet", "no: rendered here alone") }
        let failures = recipe.hookFailures > 0 ? " (\(recipe.hookFailures) failed)" : ""
        fact("hook", recipe.hook.map { $0 + failures })
        for (name, chain) in recipe.chains.sorted(by: { $0.key < $1.key }) {
            fact(name.isEmpty ? "chain" : "chain \(name)", chain)
        }
        for name in recipe.names { fact("name\(name.output.map { " \($0)" } ?? "")", name.name) }
        let head: Text = "\(recipe.name, .strong)"
        return [recipe.description.map { head + "  \($0)" } ?? head] + table.lines(width: nil)
    }
}
