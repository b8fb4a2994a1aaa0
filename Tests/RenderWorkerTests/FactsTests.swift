import PipelineModel
import TestTools
import Testing
import WorkerProtocol

@Suite("Facts for conditions")
struct FactsTests {
    private func facts(of file: TemporaryFile, _ worker: WorkerProcess) throws -> PictureFacts? {
        try worker.open([file], [.facts]).facts
    }

    @Test(
        "the facts that exiftool writes are read from each format", arguments: ["jpeg", "png", "webp", "tiff", "avif"])
    func read(format: String) throws {
        let worker = try WorkerProcess()
        let file = try worker.render(Pixels.colourful(64, 48).file(.png), "save format=\(format)")
        try ExifTool.write(
            [
                "-XMP:Rating=4", "-XMP:Label=Red", "-XMP:Subject=Alps & lakes", "-XMP:Subject=Print",
                "-EXIF:Make=Canon",
                "-EXIF:Model=Canon EOS R5", "-EXIF:LensModel=RF 24-70", "-EXIF:ISO=6400",
                "-EXIF:DateTimeOriginal=2026:11:28 10:00:00",
            ], into: [file.path])
        let facts = try #require(try facts(of: file, worker))
        #expect(facts.rating == 4 && facts.label == "Red" && facts.keywords == ["Alps & lakes", "Print"], "\(facts)")
        #expect(facts.camera == "Canon EOS R5" && facts.lens == "RF 24-70" && facts.iso == 6400, "\(facts)")
        #expect(facts.date?.words == "2026-11-28 10:00:00, from EXIF's DateTimeOriginal")
        #expect(facts.width == 64 && facts.height == 48 && facts.pages == 1)
        #expect(facts.format == (format == "jpeg" ? "jpeg" : format))
    }

    @Test("the size is that of the upright picture, and IPTC's keywords and EXIF's rating count where XMP has none")
    func others() throws {
        let worker = try WorkerProcess()
        let file = try Pixels.colourful(64, 48).file(.jpeg)
        try ExifTool.write(
            [
                "-n", "-EXIF:Orientation=6", "-EXIF:Rating=3", "-IPTC:Keywords=Sea", "-IPTC:Keywords=Sun",
                "-EXIF:Make=NIKON",
                "-EXIF:Model=Z 8",
            ], into: [file.path])
        let facts = try #require(try facts(of: file, worker))
        #expect(facts.width == 48 && facts.height == 64 && facts.rating == 3 && facts.keywords == ["Sea", "Sun"])
        #expect(facts.camera == "NIKON Z 8" && facts.lens == nil && facts.date == nil)
    }

    @Test("long texts and many keywords are cut")
    func bounded() throws {
        let worker = try WorkerProcess()
        let file = try Pixels.colourful(64, 48).file(.jpeg)
        let long = String(repeating: "x", count: 5000)
        try ExifTool.write(
            ["-XMP:Label=\(long)"] + (0..<600).map { "-XMP:Subject=\($0)" }, into: [file.path])
        let facts = try #require(try facts(of: file, worker))
        #expect(facts.label?.count == PictureFacts.longestText && facts.keywords.count == PictureFacts.mostKeywords)
    }

    @Test("a picture without metadata has no facts but its size and format, and a header has none unless asked")
    func none() throws {
        let worker = try WorkerProcess()
        let file = try Pixels.colourful(64, 48).file(.png)
        #expect(try facts(of: file, worker) == PictureFacts(format: "png", width: 64, height: 48, pages: 1))
        let output = RenderOutput(name: nil, stages: try worker.chain("resize scale=0.5"))
        #expect(try worker.open([file], [output]).facts == nil)
    }
}
