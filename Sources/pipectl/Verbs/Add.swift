import PipelineControl
import PipelineModel

extension Option {
    fileprivate static let recipe = Option(
        "--recipe", value: "RECIPE", kinds: [.recipe], "use this recipe instead of the default one")
    fileprivate static let chain = Option(
        "--chain", value: "CHAIN", kinds: [.chain], "use this chain, without a recipe")
    static let raw = Option(
        "--raw", value: "KIND", kinds: [.oneOf(Verb.raws)],
        "with --chain: preview (the default) or develop, for a camera's raw file")
    fileprivate static let priority = Option(
        "--priority", value: "LEVEL", kinds: [.oneOf(Verb.levels)], "low, normal or high; default: the recipe's")
}

extension Verb {
    static let add = Verb(
        name: "add",
        summary: "hand pictures, folders or URLs to the daemon",
        usage:
            "FILE|FOLDER|URL…|- [--recipe RECIPE | --chain CHAIN [--raw KIND]] [--after ID… [--anyway]] [--priority LEVEL] "
            + "[--wait [--timeout TIME]]",
        discussion: [
            "pipectl opens the files itself, so the daemon needs no permission to read them. The files stay as they",
            "are: when the job is printed, the daemon has a copy, and keeps it as an original, unless the recipe says",
            "Original=delete. The picture of an http or https URL is downloaded.",
            "- reads a list of URLs, one per line, from standard input. A file NAME.urls or NAME.url is also such a list.",
            "A list may have columns, as NAME.csv or NAME.tsv: its first line names them. They are url, name (the",
            "picture's file name), caption and credit (for the results' metadata) and recipe.",
            "Several pictures make one batch, whose number is printed. A line of a list that is not a URL, or a row with a",
            "mistake, becomes a failed job; then the exit code is 1.",
            "A folder is a batch with the folder's name: the pictures in it and below it that the recipe takes, in the",
            "order of their names. Other files are left out, and reported. Links are not followed, and hidden files are left out.",
        ],
        arguments: [
            Argument(
                "FILE|FOLDER|URL", count: 1...Int.max, kinds: [.file], "a picture, a folder, a URL, a list of URLs")
        ],
        options: [.recipe, .chain, .raw, .after, .anyway, .priority, .wait, .timeout],
        examples: [
            Example("pipectl add *.jpg --wait", "through the default recipe"),
            Example("pipectl add ~/Pictures/lucerne", "a folder, as the batch lucerne"),
            Example("pipectl add a.jpg --chain 'resize width=640 | save format=webp'", "a chain of its own"),
            Example("pipectl add b.jpg --after 12 13", "when these two jobs are done"),
            Example("pipectl add https://example.com/a.jpg", "download it first"),
            Example("pipectl add - < addresses", "every URL of a list"),
            Example("pipectl add monday.csv", "the same, with names and captions in columns"),
        ],
        run: { context in
            let invocation = context.invocation
            if invocation.has(.recipe), invocation.has(.chain) {
                throw Failure.usage("--recipe and --chain exclude each other: a recipe has chains of its own")
            }
            try context.checkRaw(beside: .chain)
            try invocation.checkWait()
            if let level = invocation.value(.priority) { try checkPriority(level) }
            let wish = Adding.Wish(
                recipe: invocation.value(.recipe), chain: invocation.value(.chain), raw: invocation.value(.raw),
                after: try invocation.ids(.after),
                anyway: invocation.has(.anyway), priority: invocation.value(.priority), isWaiting: invocation.has(.wait)
            )
            if wish.after.isEmpty, wish.anyway {
                throw Failure.usage("--anyway applies to the jobs of --after, and there are none")
            }
            var adding = Adding(context, wish)
            try adding.add(Addition.all(invocation.arguments))
            guard wish.isWaiting, !adding.ids.isEmpty else { return adding.code }
            try context.output.flush()
            let batch = adding.batches.count == 1 ? adding.batches[0] : nil
            return try context.waitFor(adding.ids, batch: batch) == .done ? adding.code : .failed
        })
}

extension Verb {
    fileprivate static let raws = ["preview", "develop"]
}

extension Context {
    /// Checks `--raw`. It is valid only with a chain, because a recipe has its own `Raw=`.
    func checkRaw(beside chain: Option) throws(Failure) {
        guard let raw = invocation.value(.raw) else { return }
        guard Verb.raws.contains(raw) else {
            throw .usage("--raw takes preview or develop, not '\(raw)'\(didYouMean(raw, among: Verb.raws))")
        }
        guard invocation.has(chain) else { throw .usage("--raw goes with --chain; a recipe has Raw=") }
    }
}
