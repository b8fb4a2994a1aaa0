package import PipelineModel

/// The work on a job's picture: the recipe as it was when the job was made, with its folders resolved. Many jobs share one.
package struct WorkOrder: Codable, Sendable, Hashable {
    package var recipe: String
    /// Made for `pipectl add --chain`, with no recipe behind it.
    package var adHoc: Bool
    package var outputs: [RecipeOutput]
    package var original: OriginalPolicy
    package var conflict: ConflictPolicy
    package var onTruncated: TruncatedPolicy
    package var raw: RawPolicy
    package var priority: Priority
    package var fleet: FleetUse
    /// Where results go.
    package var outbox: String
    /// Where the originals came from.
    package var inbox: String

    package init(
        recipe: String, adHoc: Bool, outputs: [RecipeOutput], original: OriginalPolicy, conflict: ConflictPolicy,
        onTruncated: TruncatedPolicy = .fail, raw: RawPolicy = .preview, priority: Priority = .normal,
        fleet: FleetUse = .yes, outbox: String, inbox: String
    ) {
        (self.recipe, self.adHoc, self.outputs, self.original) = (recipe, adHoc, outputs, original)
        (self.conflict, self.onTruncated, self.raw, self.priority) = (conflict, onTruncated, raw, priority)
        (self.fleet, self.outbox, self.inbox) = (fleet, outbox, inbox)
    }
}

extension WorkOrder {
    /// Every job that is recorded looks its order up: the rest of it is compared, and rarely differs.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(recipe)
        hasher.combine(outbox)
    }

    /// An older ledger lacks newer settings.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            recipe: try values.decode(String.self, forKey: .recipe),
            adHoc: try values.decode(Bool.self, forKey: .adHoc),
            outputs: try values.decode([RecipeOutput].self, forKey: .outputs),
            original: try values.decode(OriginalPolicy.self, forKey: .original),
            conflict: try values.decode(ConflictPolicy.self, forKey: .conflict),
            onTruncated: try values.decodeIfPresent(TruncatedPolicy.self, forKey: .onTruncated) ?? .fail,
            raw: try values.decodeIfPresent(RawPolicy.self, forKey: .raw) ?? .preview,
            priority: try values.decodeIfPresent(Priority.self, forKey: .priority) ?? .normal,
            fleet: try values.decodeIfPresent(FleetUse.self, forKey: .fleet) ?? .yes,
            outbox: try values.decode(String.self, forKey: .outbox),
            inbox: try values.decode(String.self, forKey: .inbox))
    }
}
