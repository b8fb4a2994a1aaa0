package import PipelineModel
package import SystemCalls

/// A file that the daemon has put somewhere, and that a rule of [Keep] may remove.
package struct KeptFile: Sendable {
    package var id: Int
    /// The job may have been forgotten since.
    package var job: Int
    package var place: KeptPlace
    package var recipe: String
    package var path: String
    /// The file as it came. It has none if there is only the text about an original that never came.
    package var file: FileStatus.Identity
    /// When it came.
    package var time: Double
    /// Its removal, once that has begun.
    package var leaving: JobRecord.Removal?
}

/// An original, or a result, as it has come to its place.
package struct KeptMarks: Sendable {
    var recipe: String
    var path: String
    var file: FileStatus.Identity

    package init(recipe: String, path: String, file: FileStatus.Identity) {
        (self.recipe, self.path, self.file) = (recipe, path, file)
    }
}

extension KeptPlace {
    /// The place for the originals of jobs that end in this state.
    init(ofOriginals state: JobState) {
        switch state {
        case .done: self = .archive
        case .cancelled: self = .cancelled
        default: self = .failed
        }
    }
}
