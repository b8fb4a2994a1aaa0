package import DaemonRuntime
package import JobModel
package import PipelineModel

/// Removes the files and the ledger rows of ended jobs.
@Coordination
package protocol Cleaning {
    /// Removes the files that each wish selects. If the wish is a trial, only counts them. Calls `done` with an outcome
    /// for each wish.
    func clean(_ wishes: [CleanWish], done: @escaping @Sendable (Result<[CleanOutcome], any Error>) -> Void)
    /// Forgets the chosen jobs that are over and ended before `time`. `left` is the number of such jobs that stay in
    /// the ledger, because their originals are still in an inbox. Throws if the ledger can't be read.
    func forget(
        _ choice: JobChoice, endedBefore time: Double, done: @escaping @Sendable (_ forgotten: Int, _ left: Int) -> Void
    ) throws
}

/// A request to remove the oldest kept files of a place.
package struct CleanWish: Sendable {
    package var place: KeptPlace
    /// Remove files that arrived before this time.
    package var before: Double?
    /// Remove the oldest files until at most this many bytes are left. If `most` and `before` are both nil, remove all
    /// files.
    package var most: Int?
    /// Remove only files of this recipe.
    package var recipe: String?
    /// The setting or command that causes the removal, for the log and the job.
    package var by: String
    /// Count the files without removing them.
    package var isTrial = false

    package init(
        place: KeptPlace, before: Double? = nil, most: Int? = nil, recipe: String? = nil, by: String,
        isTrial: Bool = false
    ) {
        (self.place, self.before, self.most, self.recipe) = (place, before, most, recipe)
        (self.by, self.isTrial) = (by, isTrial)
    }
}

package struct CleanOutcome: Sendable {
    package var files = 0
    package var bytes = 0
    /// Arrival times of the oldest and the newest counted file.
    package var oldest: Double?
    package var newest: Double?
    /// Number of files that can't be removed; `refusal` is the first reason.
    package var refused = 0
    package var refusal: String?
    /// Number of refused files on disks that do not answer.
    package var silent = 0

    package init() {}
}
