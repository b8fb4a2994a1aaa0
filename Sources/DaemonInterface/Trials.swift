package import JobModel
package import PipelineModel
package import SystemCalls
package import WorkerProtocol

/// A recipe or chain to try. A worker renders its results together.
package struct TrialCandidate: Sendable {
    /// The recipe's name; nil for a chain that belongs to no recipe.
    package var recipe: String?
    package var order: WorkOrder
    package var pictures: [PlannedPicture]

    package init(recipe: String? = nil, order: WorkOrder, pictures: [PlannedPicture]) {
        (self.recipe, self.order, self.pictures) = (recipe, order, pictures)
    }
}

package struct TrialWish: Sendable {
    package var name: String
    package var source: Descriptor
    package var candidates: [TrialCandidate]
    /// The format of the contact sheet that shows all results together; nil asks for the separate results.
    package var sheet: String?
    /// The longest side of a picture on the sheet, in pixels.
    package var edge: Int
    /// The captions of the results on the sheet.
    package var captions: [String]

    package init(
        name: String, source: Descriptor, candidates: [TrialCandidate], sheet: String? = nil, edge: Int,
        captions: [String]
    ) {
        (self.name, self.source, self.candidates, self.sheet) = (name, source, candidates, sheet)
        (self.edge, self.captions) = (edge, captions)
    }
}

/// A trial's result, or the `problem` that prevented it.
package struct TrialResult: Sendable {
    package var candidate: Int
    package var picture: PlannedPicture
    package var output: RenderedOutput?
    package var decode: String?
    package var milliseconds: Double?
    package var problem: String?
    package var file: Descriptor?

    package init(candidate: Int, picture: PlannedPicture) { (self.candidate, self.picture) = (candidate, picture) }
}

package struct TrialOutcome: Sendable {
    package var before: PictureHeader?
    package var made: [TrialResult] = []
    package var sheet: (output: RenderedOutput, file: Descriptor)?
    /// Why there is no sheet.
    package var problem: String?

    package init() {}
}
