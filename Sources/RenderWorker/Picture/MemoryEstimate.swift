import CVips
import PipelineModel

/// The bytes that rendering an output needs: what libvips' streaming was measured to take, and what those decoders, turns
/// and encoders add that hold a whole picture.
struct MemoryEstimate {
    let picture: Picture
    let format: SourceFormat
    let fileSize: Int
    let isProgressive: Bool

    func bytes(_ path: DecoderPath, _ stages: [Stage]) -> Int64 {
        let pixels = picture.width * picture.height
        let decoded = pixels / (path.shrink * path.shrink) * picture.bands * picture.bytesPerSample
        let rows = picture.width * picture.bands * picture.bytesPerSample * 256
        let turned = picture.orientation > 2 ? rendered(stages) * picture.bands * picture.bytesPerSample : 0
        return Int64(48 << 20 + rows + decoding(path, decoded) + turned + encoding(stages))
    }

    private func decoding(_ path: DecoderPath, _ decoded: Int) -> Int {
        let pixels = picture.width * picture.height
        let coefficients = format == .jpeg && isProgressive ? pixels * 3 : 0
        switch (format, path) {
        case (.jpeg, .grey(let shrink)): return coefficients + fileSize + pixels / (shrink * shrink)
        case (.jpeg, _): return coefficients
        case (.tiff, _): return 0
        case (.png, _): return isProgressive ? decoded : 0
        case (.webp, _): return fileSize + 2 * decoded
        case (.gif, _), (.heif, _), (.avif, _): return fileSize + 2 * decoded
        }
    }

    private func encoding(_ stages: [Stage]) -> Int {
        switch stages.last.map({ SaveStage($0).format }) {
        case "avif": rendered(stages) * 16
        case "webp": rendered(stages) * 8
        default: 0
        }
    }

    /// The pixels of the result, as far as the built-in stages tell.
    private func rendered(_ stages: [Stage]) -> Int {
        let isTurned = picture.orientation >= 5
        var size = isTurned ? (picture.height, picture.width) : (picture.width, picture.height)
        for resize in stages.compactMap(ResizeStage.init) {
            let target = resize.target(size.0, size.1)
            size = (target.cropWidth, target.cropHeight)
        }
        return size.0 * size.1
    }
}
