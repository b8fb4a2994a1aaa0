import PipelineModel
import WorkerProtocol

/// A small BMP, and the result that a node should make from it.
enum TestPicture {
    private static let (width, height) = (32, 24)

    static let name = "a test picture"

    static let output = RenderOutput(
        name: nil,
        stages: [
            Stage(name: "resize", arguments: ["scale": .number(0.5)]),
            Stage(name: "save", arguments: ["format": .text("png")]),
        ])

    /// The output of the verification, which reads every pixel of a node's result.
    static let proof = RenderOutput(name: nil, stages: [Stage(name: "save", arguments: ["format": .text("png")])])

    static func isResult(_ header: PictureHeader) -> Bool {
        header.format == "png" && header.width == width / 2 && header.height == height / 2
    }

    /// The BMP: two headers, then 3 bytes for each pixel. Rows need no padding, because their length is a multiple of 4
    /// bytes.
    static let bytes: [UInt8] = {
        let pixels = (0..<width * height * 3).map { UInt8(truncatingIfNeeded: $0) }
        return Array("BM".utf8) + number(54 + pixels.count, 4) + number(0, 4) + number(54, 4)
            + number(40, 4) + number(width, 4) + number(height, 4) + number(1, 2) + number(24, 2)
            + number(0, 4) + number(pixels.count, 4) + number(2835, 4) + number(2835, 4) + number(0, 8) + pixels
    }()

    private static func number(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(value >> (8 * $0) & 255) }
    }
}
