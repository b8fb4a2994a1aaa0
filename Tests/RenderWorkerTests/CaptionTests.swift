import PipelineModel
import Testing
import WorkerProtocol

/// Tests the captions and credits that a list gives to pictures. exiftool reads them from the results.
struct CaptionTests {
    private static let caption = "Zürich, 1. März: \"Löwe\" & <Bär> — 動物\nand a second line"
    private static let credit = "Ada Lovelace / Agency für Bilder und Töne"
    /// The credit in IPTC, cut to 32 bytes.
    private static let shortCredit = "Ada Lovelace / Agency für Bilde"

    private func render(_ source: TemporaryFile, _ chain: String) throws -> TemporaryFile {
        let worker = try WorkerProcess()
        var stages = try worker.chain(chain)
        stages[stages.count - 1].arguments["caption"] = .text(Self.caption)
        stages[stages.count - 1].arguments["credit"] = .text(Self.credit)
        _ = try worker.open([source], [RenderOutput(name: nil, stages: stages)])
        let result = try TemporaryFile()
        _ = try worker.render(into: result)
        return result
    }

    private func tags(_ file: TemporaryFile) throws -> [String: String] {
        try #require(try ExifTool.read([file.path])[file.path])
    }

    @Test(
        "caption and credit are XMP in every format that has it, and IPTC in UTF-8 in JPEG and TIFF",
        arguments: ["jpeg", "png", "webp", "tiff", "avif"],
        ["save", "resize scale=0.5 | save", "resize scale=0.5 | noir | save", "save metadata=copyright"])
    func formats(format: String, chain: String) throws {
        for source in [try MetadataTests.photograph(), try Pixels.colourful(64, 48).file(.png)] {
            let tags = try tags(render(source, "\(chain) format=\(format)"))
            #expect(tags["XMP-dc:Description"] == Self.caption)
            #expect(tags["XMP-photoshop:Credit"] == Self.credit)
            let hasIPTC = format == "jpeg" || format == "tiff"
            #expect(tags["IPTC:Caption-Abstract"] == (hasIPTC ? Self.caption : nil))
            #expect(tags["IPTC:Credit"] == (hasIPTC ? Self.shortCredit : nil))
            #expect(tags["IPTC:CodedCharacterSet"] == (hasIPTC ? "\u{1b}%G" : nil))
            let warning = tags["ExifTool:Warning"]
            #expect(warning == nil || warning?.hasPrefix("[minor]") == true, "\(warning ?? "")")
        }
    }

    @Test(
        "frame writes the list's caption and credit, or those of the metadata, as XMP, IPTC or EXIF has them",
        arguments: ["jpeg", "png", "tiff"])
    func frame(format: String) throws {
        let worker = try WorkerProcess()
        let frame = "frame caption=\"{caption}; {credit}\" credit=\"\" width=0 unit=px strip=30 | save format=png"
        func framed(_ file: TemporaryFile, caption: String? = nil, credit: String? = nil) throws -> Pixels {
            var stages = try worker.chain(frame)
            stages[stages.count - 1].arguments["caption"] = caption.map { .text($0) }
            stages[stages.count - 1].arguments["credit"] = credit.map { .text($0) }
            _ = try worker.open([file], [RenderOutput(name: nil, stages: stages)])
            let result = try TemporaryFile()
            _ = try worker.render(into: result)
            return try Pixels(result)
        }
        let plain = try Pixels.colourful(200, 100).file(.jpeg)
        let expected = try framed(plain, caption: "Löwe & <Bär>", credit: "Ada")
        #expect(expected.height == 130)
        let tags: [[String]] =
            [["-XMP-dc:Description=Löwe & <Bär>", "-XMP-photoshop:Credit=Ada"]]
            + (format == "png"
                ? [] : [["-IPTC:Caption-Abstract=Löwe & <Bär>", "-IPTC:Credit=Ada", "-IPTC:CodedCharacterSet=UTF8"]])
            + [["-EXIF:ImageDescription=Löwe & <Bär>", "-EXIF:Artist=Ada"]]
        for tags in tags {
            let file = try worker.render(plain, "save format=\(format)")
            try ExifTool.write(tags, into: [file.path])
            let without = try worker.render(file, "save format=png metadata=strip")
            #expect(try framed(file) == framed(without, caption: "Löwe & <Bär>", credit: "Ada"), "\(tags)")
            #expect(try framed(file, caption: "Tiger") != framed(file), "a list's caption comes first")
        }
        #expect(try framed(plain, caption: "a\nb") != framed(plain, caption: "a b"))
    }

    @Test("with metadata=strip, a result has no caption", arguments: ["jpeg", "png", "webp", "tiff", "avif"])
    func strip(format: String) throws {
        let tags = try tags(render(MetadataTests.photograph(), "save metadata=strip format=\(format)"))
        #expect(tags.keys.filter { $0.hasPrefix("XMP") || $0.hasPrefix("IPTC") } == [])
    }

    @Test("other metadata stays, Latin-1 becomes UTF-8, and earlier captions go", arguments: ["jpeg", "tiff"])
    func merging(format: String) throws {
        let source = try Pixels.colourful(64, 48).file(.jpeg)
        try ExifTool.write(
            [
                "-IPTC:CodedCharacterSet=", "-IPTC:By-line=Jörg Müller", "-IPTC:Caption-Abstract=old", "-IPTC:City=Zug",
                "-XMP-dc:Description-de=alt", "-XMP-dc:Description=old", "-XMP-dc:Creator=Jörg Müller",
                "-XMP-photoshop:Credit=old", "-XMP-xmp:Rating=4",
            ], into: [source.path])
        let before = try tags(source)
        #expect(before["IPTC:CodedCharacterSet"] == nil)
        let tags = try tags(render(source, "resize scale=0.5 | save format=\(format)"))
        #expect(tags["IPTC:By-line"] == "Jörg Müller" && tags["IPTC:City"] == "Zug")
        #expect(tags["IPTC:Caption-Abstract"] == Self.caption && tags["IPTC:Credit"] == Self.shortCredit)
        #expect(tags["XMP-dc:Creator"] == "Jörg Müller" && tags["XMP-xmp:Rating"] == "4")
        #expect(tags["XMP-dc:Description"] == Self.caption && tags["XMP-dc:Description-de"] == nil)
        #expect(tags["XMP-photoshop:Credit"] == Self.credit)
    }
}
