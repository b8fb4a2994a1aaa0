import OperationGraph
import PictureFiles

/// An operation that passes a picture to its dependents.
protocol ImageProviding: Providing {
    var image: ImageHandle? { get }
}

extension ImageProviding {
    package var product: ImageHandle? { image }
}
