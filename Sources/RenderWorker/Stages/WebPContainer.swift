import CVips
import CWebP

/// The chunks of a WebP.
final class WebPContainer {
    /// The chunks that hold metadata.
    static let metadata = ["ICCP", "EXIF", "XMP "]

    private let container: OpaquePointer

    init(_ bytes: [UInt8]) throws(VipsError) {
        let container = bytes.withUnsafeBufferPointer { bytes in
            var whole = WebPData(bytes: bytes.baseAddress, size: bytes.count)
            return WebPMuxCreateInternal(&whole, 1, WEBP_MUX_ABI_VERSION)
        }
        guard let container else { throw Self.failure("can't take the container apart") }
        self.container = container
    }

    deinit { WebPMuxDelete(container) }

    subscript(name: String) -> [UInt8]? {
        get {
            var chunk = WebPData()
            guard WebPMuxGetChunk(container, name, &chunk) == WEBP_MUX_OK else { return nil }
            return Array(UnsafeBufferPointer(start: chunk.bytes, count: chunk.size))
        }
        set {
            // This call fails if the chunk is missing. Ignore that failure.
            WebPMuxDeleteChunk(container, name)
            newValue?.withUnsafeBufferPointer { bytes in
                var chunk = WebPData(bytes: bytes.baseAddress, size: bytes.count)
                WebPMuxSetChunk(container, name, &chunk, 1)
            }
        }
    }

    func bytes() throws(VipsError) -> [UInt8] {
        var whole = WebPData()
        let status = WebPMuxAssemble(container, &whole)
        guard status == WEBP_MUX_OK else { throw Self.failure("can't put the container together (\(status.rawValue))") }
        defer { WebPFree(UnsafeMutableRawPointer(mutating: whole.bytes)) }
        return Array(UnsafeBufferPointer(start: whole.bytes, count: whole.size))
    }

    /// A failure of the encoder. The text must begin with the encoder's name; otherwise the worker would report a
    /// failure to read the picture.
    private static func failure(_ reason: String) -> VipsError { VipsError(lines: ["webpsave: \(reason)"]) }
}
