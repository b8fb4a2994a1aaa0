import OperationGraph
import PictureFiles

/// An operation that hands a picture on.
protocol ImageProviding: Providing {
    var image: ImageHandle? { get }
}

extension ImageProviding {
    var product: ImageHandle? { image }
}
