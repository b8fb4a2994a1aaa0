import PipelineControl
import PipelineModel
import SystemCalls

extension Option {
    static let recipeKind = Option(
        "--from", value: "KIND", kinds: [.oneOf(RecipeStart.Kind.allCases.map(\.rawValue))],
        "with new: the kind of recipe to start with, \(RecipeStart.Kind.allCases.map(\.rawValue).joined(separator: ", ")); "
            + "default: the kind of the same name, or else web")
    static let recipeFolder = Option(
        "--to", value: "DIR", kinds: [.folder], "with new: write it into DIR, without asking a daemon")
}

extension Verb {
    /// Carries out `new`, `save` or `remove`.
    static func changeRecipes(_ words: [String], _ context: Context) throws {
        let isNew = words.first == "new"
        for option in [Option.recipeKind, .recipeFolder] where !isNew && context.invocation.has(option) {
            throw Failure.usage("\(option.name) is for a new recipe: pipectl recipes new NAME \(option.written)")
        }
        switch (words.first, words.count) {
        case ("new", _): try beginRecipe(words, context)
        case ("save", 3):
            let outputs = [Control.OutputDraft(chain: words[2])]
            let reply = try context.call(Call.SaveRecipe(name: words[1], outputs: outputs))
            try show(reply.problems, "saved", words[1], context)
        case ("remove", 2):
            try show(try context.call(Call.RemoveRecipe(name: words[1])).problems, "removed", words[1], context)
        case ("save", _): throw Failure.usage("save needs a name and a chain: pipectl recipes save NAME CHAIN")
        case ("remove", _): throw Failure.usage("remove needs a name: pipectl recipes remove NAME")
        case (let word, _):
            let hint = word.map { didYouMean($0, among: ["new", "save", "remove"]) } ?? ""
            throw Failure.usage("unexpected '\(word ?? "")'\(hint)\n\(recipes.usageLine)")
        }
    }

    private static func show(
        _ problems: [Control.Problem], _ change: String, _ recipe: String, _ context: Context
    ) throws {
        guard problems.isEmpty else {
            throw Failure(
                "BadConfiguration", "nothing has changed:\n\(problems.map(\.placed).joined(separator: "\n"))", .failed)
        }
        guard !context.json else { return try context.output.object([change: recipe]) }
        try context.output.line("\(change, .good) \(recipe)")
    }

    /// Writes the recipe, makes the daemon check the recipe, and prints the next steps.
    private static func beginRecipe(_ words: [String], _ context: Context) throws {
        guard words.count == 2 else {
            throw Failure.usage("new needs a name: pipectl recipes new NAME [--from KIND] [--to DIR]")
        }
        let invocation = context.invocation
        let kind = try invocation.choice(.recipeKind, among: RecipeStart.Kind.self) ?? .init(rawValue: words[1]) ?? .web
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
            try context.output.line("\("it does not take effect because of another file:", .bad) \(problem.placed)")
        }
        let steps =
            elsewhere == nil
            ? ["Change it:  its comments explain each line", "Use it:     pipectl reload"]
            : ["Use it:     copy it to the daemon's recipes.d/, then `pipectl reload`"]
        try context.output.lines([""] + steps.map { Text($0) })
    }

    /// Makes the daemon check the new recipe, and removes the file if it is unusable. Returns problems of other files.
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
