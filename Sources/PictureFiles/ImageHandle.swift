package import PipelineModel
package import WorkerProtocol

/// The paths of a job's picture, and its known properties. The handle contains no pixels, because the supervisor never
/// loads any.
package struct ImageHandle: Sendable {
    package struct Staged: Sendable {
        package var picture: PlannedPicture
        package var path: String
        package var result: RenderedOutput?

        package init(picture: PlannedPicture, path: String, result: RenderedOutput? = nil) {
            (self.picture, self.path, self.result) = (picture, path, result)
        }
    }

    /// The path of the original.
    package var source: String
    /// The picture's name, if only its download has revealed it.
    package var name: String?
    package var size: Int?
    /// When the file was last written to, in nanoseconds since 1970.
    package var modified: Int?
    /// Pictures made from the original before the latest barrier.
    package var earlier: [Staged] = []
    /// Pictures made from the original since the latest barrier.
    package var staged: [Staged] = []
    package var header: PictureHeader?

    package init(
        source: String, name: String? = nil, size: Int? = nil, modified: Int? = nil, earlier: [Staged] = [],
        staged: [Staged] = [], header: PictureHeader? = nil
    ) {
        (self.source, self.name, self.size, self.modified) = (source, name, size, modified)
        (self.earlier, self.staged, self.header) = (earlier, staged, header)
    }

    /// The pictures to be published.
    package var results: [Staged] {
        (earlier + staged).filter(\.picture.isResult).sorted { $0.picture.index < $1.picture.index }
    }
}
