/// A named set of rules: which files the daemon takes from an inbox, and which results it makes of them.
public struct Recipe: Sendable, Hashable {
    /// Patterns of the file names that a recipe without `Match=` takes.
    public static let pictures = [
        "*.jpg", "*.jpeg", "*.png", "*.webp", "*.heic", "*.heif", "*.avif", "*.tif", "*.tiff", "*.gif",
        "*.bmp", "*.cr2", "*.cr3", "*.nef", "*.arw", "*.dng", "*.raf", "*.orf", "*.rw2",
        "*.urls", "*.url", "*.csv", "*.tsv",
    ]

    /// The settings that a recipe file may contain, for the manual.
    public static var settings: [SettingRow] {
        let draft = RecipeDraft(intake: InboxSettings())
        return RecipeDraft.table.map { $0.row(of: draft, default: draft, source: "default") }
    }

    public let name: String
    public let description: String?
    /// The recipe's file; nil for the built-in recipe.
    public let file: String?
    /// The inbox folder: absolute, or relative to `inbox/`. "" means `inbox/` itself.
    public let inbox: String
    /// The outbox folder: absolute, or relative to `outbox/`.
    public let outbox: String
    public let match: [String]
    public let original: OriginalPolicy
    public let conflict: ConflictPolicy
    public let onTruncated: TruncatedPolicy
    public let raw: RawPolicy
    public let priority: Priority
    public let share: Int
    /// The times of day at which pictures may begin; nil for always.
    public let hours: Hours?
    public let fleet: FleetUse
    /// The program to run for the events in `hookOn`.
    public let hook: String?
    public let hookOn: Set<HookOccasion>
    public let intake: InboxSettings
    public let outputs: [RecipeOutput]

    private let globs: [Glob]

    public init(
        name: String, description: String? = nil, file: String? = nil, inbox: String, outbox: String,
        match: [String] = Recipe.pictures, original: OriginalPolicy = .archive, conflict: ConflictPolicy = .number,
        onTruncated: TruncatedPolicy = .fail, raw: RawPolicy = .preview, priority: Priority = .normal,
        share: Int = 1, hours: Hours? = nil, fleet: FleetUse = .yes, hook: String? = nil,
        hookOn: Set<HookOccasion> = HookOccasion.usual, intake: InboxSettings = InboxSettings(),
        outputs: [RecipeOutput]
    ) {
        (self.name, self.description, self.file, self.inbox, self.outbox) = (name, description, file, inbox, outbox)
        (self.match, self.original, self.conflict, self.onTruncated) = (match, original, conflict, onTruncated)
        (self.raw, self.fleet) = (raw, fleet)
        (self.priority, self.share, self.hours, self.hook, self.hookOn) = (priority, share, hours, hook, hookOn)
        (self.intake, self.outputs) = (intake, outputs)
        globs = match.map(Glob.init)
    }

    /// The recipe's file, or a description of the built-in recipe.
    public var place: String { file ?? "built-in recipe \(name)" }

    /// Whether the recipe takes files with this name, which contains no folders.
    public func matches(_ fileName: String) -> Bool {
        globs.contains { $0.matches(fileName) }
    }
}
