package import PipelineModel
package import SystemCalls

/// A file that the daemon has put in its final place, where a rule of [Keep] may remove it.
package struct KeptFile: Sendable {
    package var id: Int
    /// The ledger may have forgotten the job since.
    package var job: Int
    package var place: KeptPlace
    package var recipe: String
    package var path: String
    /// The file's identity on arrival; `.none` if only the error text of an original that never arrived lies there.
    package var file: FileStatus.Identity
    /// Time of arrival.
    package var time: Double
    /// Set when its removal starts.
    package var leaving: JobRecord.Removal?
}

/// The identity of an original or result on arrival.
package struct KeptMarks: Sendable {
    var recipe: String
    var path: String
    var file: FileStatus.Identity

    package init(recipe: String, path: String, file: FileStatus.Identity) {
        (self.recipe, self.path, self.file) = (recipe, path, file)
    }
}

extension KeptPlace {
    /// The folder for originals of jobs that end in this state.
    init(ofOriginals state: JobState) {
        switch state {
        case .done: self = .archive
        case .cancelled: self = .cancelled
        default: self = .failed
        }
    }
}
