package import JobModel
package import PipelineModel
package import SystemCalls

/// An original or result that the daemon has put in its final place. A rule of [Keep] may remove it later.
package struct KeptFile: Sendable {
    package var id: Int
    /// The job's ID. The ledger may have forgotten the job in the meantime.
    package var job: Int
    package var place: KeptPlace
    package var recipe: String
    package var path: String
    /// The file's identity when the daemon put it in this place. `.none` if the original was never downloaded. In that
    /// case, only an `.error.txt` file exists.
    package var file: FileStatus.Identity
    /// The time when the daemon put the file in this place.
    package var time: Double
    /// The removal in progress, if any.
    package var leaving: JobRecord.Removal?
}

/// The recipe, path and identity of an original or result in its final place.
package struct KeptMarks: Sendable {
    var recipe: String
    var path: String
    var file: FileStatus.Identity

    package init(recipe: String, path: String, file: FileStatus.Identity) {
        (self.recipe, self.path, self.file) = (recipe, path, file)
    }
}

extension KeptPlace {
    /// The place of the originals of jobs that end in this state.
    init(ofOriginals state: JobState) {
        switch state {
        case .done: self = .archive
        case .cancelled: self = .cancelled
        default: self = .failed
        }
    }
}
