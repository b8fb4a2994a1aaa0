/// An event that runs a recipe's hook.
public enum HookOccasion: String, Sendable, Hashable, Codable, CaseIterable {
    /// A picture is published, and its original has reached its final place.
    case done
    /// A picture has failed, and its original lies in `failed/`.
    case failed
    case cancelled
    /// All jobs of a batch are over.
    case batch

    public static let usual: Set = [HookOccasion.done, .batch]
}
