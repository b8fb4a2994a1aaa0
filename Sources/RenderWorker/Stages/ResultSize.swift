import PipelineModel
import WorkerProtocol

/// The size of a result after the built-in stages; filters may change it.
struct ResultSize {
    var width: Int
    var height: Int

    var pixels: Int { width * height }

    init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
    }

    init(of picture: Picture, _ stages: [Stage]) {
        let isTurned = picture.orientation >= 5
        (width, height) = isTurned ? (picture.height, picture.width) : (picture.width, picture.height)
        for resize in stages.compactMap(ResizeStage.init) {
            let target = resize.target(width, height)
            (width, height) = (target.cropWidth, target.cropHeight)
        }
    }

    /// Refuses a size with more pixels than `MaxPixels=`. The limit applies to the result of a resize as well as to the
    /// picture in a file.
    func check(maxPixels: Int64, frames: Int = 1) throws(WorkerFailure) {
        let pixels = Int64(pixels) * Int64(frames)
        guard pixels > maxPixels else { return }
        let size = (frames > 1 ? "\(frames) frames of " : "") + "\(width) × \(height)"
        throw WorkerFailure(
            stage: ResizeStage.name,
            message: "it would become \(size): \(pixels) pixels, more than MaxPixels=\(maxPixels)",
            advice: "ask for a smaller size, or raise MaxPixels in [Daemon]; then pipectl retry")
    }

    /// Maximum pixels per side. PNG and TIFF are not listed, because they allow larger sides than any picture has.
    private static let mostASide = ["jpeg": 65500, "webp": 16383, "avif": 16384, "gif": 65535]

    /// Refuses a size that the format can't store. Encoders report that late, obscurely, or not at all.
    func check(_ format: String) throws(WorkerFailure) {
        guard let most = Self.mostASide[format], max(width, height) > most else { return }
        throw WorkerFailure(
            stage: SaveStage.name,
            message: "\(format) holds at most \(most) pixels a side, and the result would be \(width) × \(height)",
            advice: "put a resize before save, or save as png or tiff; then pipectl retry")
    }
}
