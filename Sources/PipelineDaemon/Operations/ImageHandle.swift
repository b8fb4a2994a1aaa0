import OperationGraph
import PipelineModel
import WorkerProtocol

/// Where a picture's bytes lie, and what is known of them. Pixels are never in the supervisor.
struct ImageHandle: Sendable {
    struct Staged: Sendable {
        var picture: PlannedPicture
        var path: String
        var result: RenderedOutput?
    }

    /// The file as it came in.
    var source: String
    /// Its name, when that was not known before it came.
    var name: String?
    var size: Int?
    /// When the file was last written to, in nanoseconds since 1970.
    var modified: Int?
    /// Pictures that were made of it before a barrier.
    var earlier: [Staged] = []
    /// Pictures that were made of it since.
    var staged: [Staged] = []
    var header: PictureHeader?

    /// The pictures that are to be published.
    var results: [Staged] {
        (earlier + staged).filter(\.picture.isResult).sorted { $0.picture.index < $1.picture.index }
    }
}

/// An operation that hands a picture on.
protocol ImageProviding: Providing {
    var image: ImageHandle? { get }
}

extension ImageProviding {
    var product: ImageHandle? { image }
}
