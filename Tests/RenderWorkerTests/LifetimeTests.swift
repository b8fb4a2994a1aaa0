import CVips
import PipelineModel
import Testing
import WorkerProtocol

/// Tests that a picture's metadata and profile outlive the loader that read them.
struct LifetimeTests {
    /// An XMP block that is so large that malloc maps it separately. The block is unmapped as soon as it is freed.
    private static let xmp =
        Array("<x:xmpmeta>".utf8) + Array(repeating: UInt8(ascii: "x"), count: 6 << 20)
        + Array("</x:xmpmeta>".utf8)
    private static let pixels = Pixels.colourful(320, 240)

    /// Returns a photograph with a phone's metadata: Display P3, EXIF and XMP.
    private static func photograph(_ format: Pixels.Format) throws -> TemporaryFile {
        try pixels.file(format) {
            let picture = try $0.then { cvips_icc_transform($0, $1, "p3", "srgb", VIPS_INTENT_RELATIVE, 8) }
            picture.set("exif-ifd0-Copyright", "Joe Doe 2026")
            picture.set("xmp-data", xmp)
            return picture
        }
    }

    private func check(_ file: TemporaryFile) throws {
        let result = try VipsPicture(file)
        #expect(result.exif("ifd0-Copyright") == "Joe Doe 2026")
        // Compare outside #expect, which would print six million bytes if they differed.
        let isSame = result.blob("xmp-data") == Self.xmp
        #expect(isSame)
        #expect(try result.pixels().likeness(Self.pixels) > 36)
    }

    @Test(
        "Several outputs of one decoding have the picture's metadata and colours",
        arguments: [
            Pixels.Format.heic, .avif,
        ])
    func shared(format: Pixels.Format) throws {
        let worker = try WorkerProcess()
        let source = try Self.photograph(format)
        _ = try worker.open(source, "save format=png", "save format=webp quality=95", "save")
        let files = (try TemporaryFile(), try TemporaryFile(), try TemporaryFile())
        let results = try worker.render(into: files.0, files.1, files.2)
        // A JPEG can't hold XMP of this size.
        #expect(results.map(\.lost) == [nil, nil, ["XMP of \(Self.xmp.count) bytes"]])
        try check(files.0)
        try check(files.1)
    }

    @Test("A picture behind a barrier keeps its metadata and colours", arguments: [Pixels.Format.heic, .avif])
    func handedOver(format: Pixels.Format) throws {
        try check(HandOverTests().cut(Self.photograph(format), "barrier | save format=png"))
    }
}
