package import PipelineModel

/// The instructions for a job's picture: a snapshot of the recipe, with resolved folders. Many jobs share one order.
package struct WorkOrder: Codable, Sendable, Hashable {
    package var recipe: String
    /// Whether the order was made for `pipectl add --chain`, without a recipe.
    package var adHoc: Bool
    package var outputs: [RecipeOutput]
    package var original: OriginalPolicy
    package var conflict: ConflictPolicy
    package var onTruncated: TruncatedPolicy
    package var raw: RawPolicy
    package var priority: Priority
    package var fleet: FleetUse
    package var outbox: String
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
    /// Hashes only two fields to save time, because the ledger looks up the order of every job that it records. Orders
    /// with equal values in these two fields rarely differ in other fields.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(recipe)
        hasher.combine(outbox)
    }

    /// Supplies defaults for settings that an older ledger lacks.
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
