import PipelineControl
import SystemCalls

extension Option {
    static let recipeKind = Option(
        "--from", value: "KIND", kinds: [.oneOf(RecipeStart.Kind.allCases.map(\.rawValue))],
        "of a new recipe: what it begins as, \(RecipeStart.Kind.allCases.map(\.rawValue).joined(separator: ", "))")
    static let recipeFolder = Option(
        "--to", value: "DIR", kinds: [.folder], "of a new recipe: write it into DIR, and ask no daemon")
}

extension Verb {
    /// Writes the recipe, has the daemon check it, and prints the next steps.
    static func beginRecipe(_ words: [String], _ context: Context) throws {
        guard words.first == "new" else {
            throw Failure.usage("unexpected '\(words[0])'\n\(recipes.usageLine)")
        }
        guard words.count == 2 else {
            throw Failure.usage("new wants a name: pipectl recipes new NAME [--from KIND] [--to DIR]")
        }
        let invocation = context.invocation
        let kind = try invocation.choice(.recipeKind, among: RecipeStart.Kind.self) ?? .web
        let elsewhere = invocation.value(.recipeFolder)
        let start = try RecipeStart(
            words[1], kind,
            in: elsewhere.map { FileSystem.join(FileSystem.workingFolder, $0) } ?? context.call(Call.Recipes()).folder)
        try start.write()
        var others: [Control.Problem] = []
        if elsewhere == nil { others = try tried(start, context) }
        guard !context.json else { return try context.output.document(start) }
        try context.output.line("\("wrote", .good) \(start.file)")
        for problem in others {
            try context.output.line("\("another file keeps it out of force:", .bad) \(problem.placed)")
        }
        let steps =
            elsewhere == nil
            ? ["Change it:  it says how, line by line", "Use it:     pipectl reload"]
            : ["Use it:     copy it to the daemon's recipes.d/, then `pipectl reload`"]
        try context.output.lines([""] + steps.map { Text($0) })
    }

    /// Has the daemon check the new recipe, and removes the file if it is unusable. Returns problems of other files.
    private static func tried(_ start: RecipeStart, _ context: Context) throws -> [Control.Problem] {
        let problems: [Control.Problem]
        do { problems = try context.call(Call.Reload(check: true)).problems } catch {
            try? FileSystem.remove(start.file)
            throw error
        }
        let own = problems.filter { $0.file == start.file }
        guard own.isEmpty else {
            try FileSystem.remove(start.file)
            throw Failure(
                "BadConfiguration",
                "the daemon can't use it, so nothing was written:\n\(own.map(\.placed).joined(separator: "\n"))",
                .failed)
        }
        return problems
    }
}
