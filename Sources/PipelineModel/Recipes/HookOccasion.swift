/// An occasion on which a recipe's hook is run.
public enum HookOccasion: String, Sendable, Hashable, Codable, CaseIterable {
    /// A picture is published, and its original lies where it belongs.
    case done
    /// A picture has failed, and its original lies in `failed/`.
    case failed
    case cancelled
    /// All pictures of a batch are over.
    case batch

    public static let usual: Set = [HookOccasion.done, .batch]
}
