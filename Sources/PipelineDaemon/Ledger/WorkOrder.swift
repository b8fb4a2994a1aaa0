import PipelineModel

/// What is to be done with a job's picture: the recipe as it was when the job was made, with its folders resolved. Many jobs share one.
struct WorkOrder: Codable, Sendable, Hashable {
    var recipe: String
    /// Made for `pipectl add --chain`, with no recipe behind it.
    var adHoc: Bool
    var outputs: [RecipeOutput]
    var original: OriginalPolicy
    var conflict: ConflictPolicy
    var onTruncated = TruncatedPolicy.fail
    var priority = Priority.normal
    /// Where results go.
    var outbox: String
    /// Where the originals came from.
    var inbox: String
}

extension WorkOrder {
    /// Ledgers from before a setting was there don't have it.
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        recipe = try values.decode(String.self, forKey: .recipe)
        adHoc = try values.decode(Bool.self, forKey: .adHoc)
        outputs = try values.decode([RecipeOutput].self, forKey: .outputs)
        original = try values.decode(OriginalPolicy.self, forKey: .original)
        conflict = try values.decode(ConflictPolicy.self, forKey: .conflict)
        onTruncated = try values.decodeIfPresent(TruncatedPolicy.self, forKey: .onTruncated) ?? .fail
        priority = try values.decodeIfPresent(Priority.self, forKey: .priority) ?? .normal
        outbox = try values.decode(String.self, forKey: .outbox)
        inbox = try values.decode(String.self, forKey: .inbox)
    }
}
