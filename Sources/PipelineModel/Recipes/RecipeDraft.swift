/// The settings of a recipe while its file is being read. A setting without a default is nil until the file sets it.
struct RecipeDraft: Sendable {
    var description: String?
    var inbox: String?
    var outbox: String?
    var match: [String]?
    var original = OriginalPolicy.archive
    var conflict = ConflictPolicy.number
    var onTruncated = TruncatedPolicy.fail
    var raw = RawPolicy.preview
    var priority = Priority.normal
    var share = 1
    var hours: Hours?
    var fleet = FleetUse.yes
    var hook: String?
    var hookOn = HookOccasion.usual
    var intake: InboxSettings
    /// The `Name=` in [Recipe], for outputs without a `Name=` of their own.
    var naming: NameTemplate?
    /// The `When=` in [Recipe]. A picture must meet this condition in addition to the `When=` of an output.
    var condition: Condition?
    /// The `Chain=` of the [Output] section that is being read.
    var chain: String?
    /// The `Name=` of the [Output] section that is being read.
    var outputNaming: NameTemplate?
    /// The `When=` of the [Output] section that is being read.
    var outputCondition: Condition?

    static let table: [Setting<RecipeDraft>] =
        [
            Setting("Recipe", "Description", \.description, .text, "what the recipe is for"),
            Setting(
                "Recipe", "Inbox", \.inbox, .folder,
                "the folder where its pictures arrive: below inbox/, or absolute; default: the recipe's name"),
            Setting(
                "Recipe", "Outbox", \.outbox, .folder,
                "the folder for its results: below outbox/, or absolute; default: the recipe's name"),
            Setting(
                "Recipe", "Name", \.naming, .name,
                "the names of its results below the outbox, with / between folders; default: the inbox's subfolder, the "
                    + "picture's name and the output's name"),
            Setting(
                "Recipe", "Match", \.match, .words,
                "the file names it takes; default: picture files"),
            Setting("Recipe", "Original", \.original, .word, "what happens to the original: archive, delete or keep"),
            Setting(
                "Recipe", "Conflict", \.conflict, .word,
                "what happens when a result's name is taken: number, replace or skip"),
            Setting(
                "Recipe", "OnTruncated", \.onTruncated, .word,
                "what happens to a picture whose end is missing: fail, or accept to render what is there"),
            Setting(
                "Recipe", "Raw", \.raw, .word,
                "how a camera's raw file is read: preview for the embedded JPEG, or develop"),
            Setting(
                "Recipe", "Priority", \.priority, .word,
                "the priority of its pictures: low, normal or high"),
            Setting(
                "Recipe", "Share", \.share, .count(1...100),
                "its weight: the number of turns it gets for each turn of a recipe with Share=1"),
            Setting(
                "Recipe", "Hours", \.hours, .hours,
                "the hours when its pictures may start, in local time; at other times they wait; default: always"),
            Setting(
                "Recipe", "Fleet", \.fleet, .word, "no: its pictures are rendered here, and never lent to other nodes"),
            Setting(
                "Recipe", "Hook", \.hook, .program,
                "a program to run when a picture or a batch is done; it gets the event as JSON on standard input"),
            Setting(
                "Recipe", "HookOn", \.hookOn, .some(),
                "when the hook runs: done, failed or cancelled for each such picture, arrived when a batch has reached a "
                    + "barrier, batch when it has ended"),
            Setting(
                "Recipe", "When", \.condition, .condition,
                "which pictures get results: comparisons of facts with and, or, not; left out: all"),
            Setting("Output", "Chain", \.chain, .text, "the stages from picture to result, with | between them"),
            Setting(
                "Output", "Name", \.outputNaming, .name, "the same as Name in [Recipe], for this output and its tees"),
            Setting(
                "Output", "When", \.outputCondition, .condition,
                "which pictures this output and its tees make results of; a When in [Recipe] must be met, too"),
        ] + InboxSettings.table.map { $0.within(\.intake) }
}
