import PipelineModel
import Testing
import WorkerProtocol

/// Tests the intermediate picture that passes a barrier.
struct HandOverTests {
    /// Renders a chain with barriers segment by segment, as for a job in a batch.
    func cut(_ source: TemporaryFile, _ text: String) throws -> TemporaryFile {
        let worker = try WorkerProcess()
        let chain = try Chain(parsing: text, catalog: StageCatalog(filters: worker.hello.filters))
        let plan = Planner.plan(outputs: [RecipeOutput(name: nil, chain: chain)], inBatch: true)
        var made: [Int: TemporaryFile] = [:]
        for picture in plan.segments.joined() {
            let outputs = [RenderOutput(picture, wantsDate: false)]
            let handedOver = try picture.source.map { try #require(made[$0]) }
            _ = try worker.open((handedOver.map { [$0] } ?? []) + [source], outputs)
            let file = try TemporaryFile()
            _ = try worker.render(into: file)
            made[picture.index] = file
        }
        return try #require(plan.results.last.flatMap { made[$0.index] })
    }

    @Test(
        "The result behind a barrier is the same as without the barrier, with all metadata",
        arguments: [
            ("noir contrast=1.2", "resize width=160"), ("resize scale=0.5", "noir"),
            ("resize scale=0.5", "resize scale=0.5 kernel=lanczos3"), ("noir", "barrier | noir"),
        ])
    func same(before: String, after: String) throws {
        let photograph = try MetadataTests.photograph()
        let file = try cut(photograph, "\(before) | barrier | \(after)")
        let whole = try WorkerProcess().render(photograph, "\(before) | \(after.replacing("barrier | ", with: ""))")
        #expect(try Pixels(file).likeness(Pixels(whole)) > 36)
        let (result, expected) = (try VipsPicture(file), try VipsPicture(whole))
        for field in [
            "exif-ifd0-Copyright", "exif-ifd0-Make", "exif-ifd3-GPSLatitude", "exif-ifd0-Orientation",
        ] {
            #expect(result.text(field) == expected.text(field), "\(field)")
        }
        for field in ["xmp-data", "iptc-data"] { #expect(result.blob(field) == expected.blob(field), "\(field)") }
        #expect(result.has("icc-profile-data") == expected.has("icc-profile-data"))
    }

    @Test(
        "A gain map passes a barrier as if there were none",
        arguments: [
            ("resize scale=0.5", "noir"), ("noir", "crop ratio=1:1 | rotate angle=90"),
            ("crop ratio=1:1", "barrier | resize width=120"), ("resize width=200", "save"),
        ])
    func gainMap(before: String, after: String) throws {
        let source = try HDRFile.photograph()
        let file = try HDRRendition(cut(source, "\(before) | barrier | \(after)"))
        let whole = try HDRRendition(
            WorkerProcess().render(source, "\(before) | \(after.replacing("barrier | ", with: ""))"))
        #expect(file.map == whole.map && file.channels == whole.channels)
    }

    @Test("A barrier changes no pixel: alpha, 16 bits and grey", arguments: [Pixels.Format.png, .tiff])
    func lossless(format: Pixels.Format) throws {
        for alpha in [false, true] {
            let source = try Pixels.colourful(97, 61, alpha: alpha).file(format, is16Bit: true) { $0 }
            let file = try cut(source, "noir | barrier | save format=png")
            let whole = try WorkerProcess().render(source, "noir | save format=png")
            #expect(try Pixels(file).likeness(Pixels(whole)) == .infinity)
        }
    }
}
