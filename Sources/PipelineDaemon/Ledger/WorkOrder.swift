import PipelineModel

/// What is to be done with a job's picture: the recipe as it was when the job was made, with its folders resolved. Many jobs share one.
struct WorkOrder: Codable, Sendable, Hashable {
    var recipe: String
    /// Made for `pipectl add --chain`, with no recipe behind it.
    var adHoc: Bool
    var outputs: [RecipeOutput]
    var original: OriginalPolicy
    var conflict: ConflictPolicy
    /// Where results go.
    var outbox: String
    /// Where the originals came from.
    var inbox: String
}
