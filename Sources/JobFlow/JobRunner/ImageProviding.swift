import OperationGraph
import PictureFiles

/// An operation that hands a picture on.
protocol ImageProviding: Providing {
    var image: ImageHandle? { get }
}

extension ImageProviding {
    package var product: ImageHandle? { image }
}
