/// An event that runs a recipe's hook.
public enum HookOccasion: String, Sendable, Hashable, Codable, CaseIterable {
    /// The results of a picture are published, and its original has reached its final place.
    case done
    /// A picture has failed, and its original has been moved to `failed/`.
    case failed
    case cancelled
    /// All unfinished jobs of a batch have reached a barrier.
    case arrived
    /// All jobs of a batch have finished, failed or been cancelled.
    case batch

    public static let usual: Set = [HookOccasion.done, .batch]
}
