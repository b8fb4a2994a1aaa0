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
    var fleet = FleetUse.yes
    var hook: String?
    var hookOn = HookOccasion.usual
    var intake: InboxSettings
    /// The `Name=` in [Recipe], for outputs without a `Name=` of their own.
    var naming: NameTemplate?
    /// The `Chain=` of the [Output] section that is being read.
    var chain: String?
    /// The `Name=` of the [Output] section that is being read.
    var outputNaming: NameTemplate?

    static let table: [Setting<RecipeDraft>] =
        [
            Setting("Recipe", "Description", \.description, .text, "what the recipe is for"),
            Setting(
                "Recipe", "Inbox", \.inbox, .folder,
                "where its pictures arrive: below inbox/, or absolute; left out: the recipe's name"),
            Setting(
                "Recipe", "Outbox", \.outbox, .folder,
                "where its results go: below outbox/, or absolute; left out: the recipe's name"),
            Setting(
                "Recipe", "Name", \.naming, .name,
                "the names of its results below the outbox, with / for folders; left out: the folder of the inbox, the "
                    + "picture's name, and the output's"),
            Setting(
                "Recipe", "Match", \.match, .words,
                "the file names it takes; left out: those of pictures"),
            Setting("Recipe", "Original", \.original, .word, "what becomes of the original: archive, delete or keep"),
            Setting(
                "Recipe", "Conflict", \.conflict, .word,
                "what happens when a result's name is taken: number, replace or skip"),
            Setting(
                "Recipe", "OnTruncated", \.onTruncated, .word,
                "what happens to a picture whose end is missing: fail, or accept to render what is there"),
            Setting(
                "Recipe", "Raw", \.raw, .word,
                "how a camera's raw file is read: preview for the JPEG that is embedded, or develop"),
            Setting(
                "Recipe", "Priority", \.priority, .word,
                "which of the pictures that wait are taken first: low, normal or high"),
            Setting(
                "Recipe", "Fleet", \.fleet, .word, "no: its pictures are rendered here, and never lent to other nodes"),
            Setting(
                "Recipe", "Hook", \.hook, .program,
                "a program that is run for each picture and each batch when it is done, with the event as JSON to read"),
            Setting(
                "Recipe", "HookOn", \.hookOn, .some(),
                "what the hook is run for: pictures that are done, that have failed or were cancelled, and batches"),
            Setting("Output", "Chain", \.chain, .text, "the stages from picture to result, with | between them"),
            Setting(
                "Output", "Name", \.outputNaming, .name, "the same as Name in [Recipe], for this output and its tees"),
        ] + InboxSettings.table.map { $0.within(\.intake) }
}
