import CVips
import PipelineModel
import Testing
import WorkerProtocol

/// Tests parts of a file beside its picture (gain maps, videos and manifests), and metadata that may reveal a place.
struct AttachedPartTests {
    private static let start =
        "<?xpacket begin='' id='x'?><x:xmpmeta xmlns:x='adobe:ns:meta/'>"
        + "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
    private static let end = "</rdf:RDF></x:xmpmeta><?xpacket end='w'?>"
    private static let ultraHDR =
        start
            + """
            <rdf:Description xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"
              xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4" xmlns:xmpNote='http://ns.adobe.com/xmp/note/'
              xmlns:Container="http://ns.google.com/photos/1.0/container/" xmpNote:HasExtendedXMP="0123"
              xmlns:Item="http://ns.google.com/photos/1.0/container/item/">
              <Container:Directory><rdf:Seq><rdf:li rdf:parseType="Resource">
              <Container:Item Item:Semantic="GainMap" Item:Mime="image/jpeg" Item:Length="99"/>
              </rdf:li></rdf:Seq></Container:Directory><dc:title xmlns:dc="d">A &lt; B</dc:title></rdf:Description>
            """ + end

    private func photograph(_ xmp: String, _ format: Pixels.Format = .jpeg) throws -> TemporaryFile {
        try Pixels.colourful(64, 48).file(format) { picture in
            picture.set("xmp-data", Array(xmp.utf8))
            return picture
        }
    }

    /// Inserts a segment directly after a JPEG's first marker.
    private func withSegment(_ kind: UInt8, _ content: [UInt8], in file: TemporaryFile) throws -> TemporaryFile {
        let (bytes, length) = (try file.bytes, content.count + 2)
        let segment = [0xff, kind, UInt8(length >> 8), UInt8(length & 255)] + content
        return try TemporaryFile(bytes.prefix(2) + segment + bytes.dropFirst(2))
    }

    /// Whether the file contains this text. A failed expectation prints only the result of this function, not the whole
    /// file.
    private func has(_ text: String, in file: TemporaryFile) throws -> Bool {
        String(decoding: try file.bytes, as: UTF8.self).contains(text)
    }

    private func render(_ source: TemporaryFile, _ chain: String) throws -> (
        result: RenderedOutput, file: TemporaryFile
    ) {
        let worker = try WorkerProcess("--jxl")
        _ = try worker.open(source, chain)
        let file = try TemporaryFile()
        return (try #require(worker.render(into: file).first), file)
    }

    @Test(
        "XMP loses its promise of a gain map, in every format and by each decoder path, and the rest stays",
        arguments: ["jpeg", "png", "webp", "tiff", "avif", "jxl"],
        ["", "resize scale=0.5 | ", "resize scale=0.5 | noir | "])
    func gainMap(format: String, chain: String) throws {
        let made = try render(photograph(Self.ultraHDR), "\(chain)save format=\(format)")
        #expect(made.result.gainMap == Self.promisedAlone && made.result.dropped == nil)
        for word in ["hdrgm", "Container:", "GainMap", "HasExtendedXMP"] {
            #expect(try !has(word, in: made.file), "\(word)")
        }
        // The tests can't read the XMP of a JPEG XL.
        guard format != "jxl" else { return }
        // PNG compresses its XMP, so read that through libvips.
        let bytes = try format == "png" ? VipsPicture(made.file).blob("xmp-data") ?? [] : made.file.bytes
        let xmp = String(decoding: bytes, as: UTF8.self)
        let (isKept, isCut) = (xmp.contains("xmp:Rating=\"4\"") && xmp.contains("A &lt; B"), !xmp.contains("hdrgm"))
        #expect(isKept && isCut)
        #expect(try render(made.file, "save metadata=strip").result.gainMap == nil)
    }

    private static let promisedAlone =
        "without gain map: the file announces a gain map, but no readable one was found"

    @Test(
        "With metadata=strip the loss of a gain map is reported, but not that of a manifest, which strip removes")
    func stripped() throws {
        let c2pa = Array("JP\0\u{1}\0\0\0\u{1}\0\0\0\u{20}jumb\0\0\0\u{18}jumdc2pa".utf8)
        let source = try withSegment(0xeb, c2pa, in: photograph(Self.ultraHDR))
        for (policy, dropped) in [
            ("keep", ["C2PA manifest"]), ("keep-without-place", ["C2PA manifest"]), ("copyright", ["C2PA manifest"]),
            ("strip", nil),
        ] {
            let (result, file) = try render(source, "save metadata=\(policy)")
            #expect(result.dropped == dropped && result.gainMap == Self.promisedAlone, "\(policy)")
            #expect(try !has("c2pa", in: file) && !has("jumb", in: file), "\(policy)")
        }
        #expect(
            try render(withSegment(0xeb, c2pa, in: photograph(Self.start + Self.end)), "save").result.dropped == [
                "C2PA manifest"
            ])
        #expect(try render(photograph(Self.start + Self.end), "save").result.dropped == nil)
    }

    @Test("A gain map by ISO 21496-1, a manifest in a PNG, and the video of a moving picture are reported as well")
    func others() throws {
        let iso = try withSegment(
            0xe2, Array("urn:iso:std:iso:ts:21496:-1\0".utf8) + [0, 0, 0, 0], in: Pixels.colourful(64, 48).file(.jpeg))
        #expect(try render(iso, "save format=webp").result.gainMap == Self.promisedAlone)
        let png = try Pixels.colourful(64, 48).file(.png).bytes
        // Insert the chunk after the signature and IHDR.
        let claimed = try TemporaryFile(png.prefix(33) + PNGChunk.bytes("caBX", []) + png.dropFirst(33))
        #expect(try render(claimed, "save").result.dropped == ["C2PA manifest"])
        let video =
            Self.start
            + "<rdf:Description xmlns:GCamera='http://ns.google.com/photos/1.0/camera/' GCamera:MotionPhoto='1' "
            + "GCamera:Mode='x'/>" + Self.end
        let made = try render(photograph(video), "save")
        #expect(made.result.dropped == ["video"])
        #expect(try !has("MotionPhoto", in: made.file) && has("GCamera:Mode='x'", in: made.file))
    }

    // MARK: - Places

    private static let hidden =
        start
            + """
            <rdf:Description xmlns:q="http://ns.adobe.com/exif/1.0/" q:GPSLatitude = "48,8N"
             xmlns:geo='http://www.w3.org/2003/01/geo/wgs84_pos#' geo:lat='48.1' xmlns:dji="http://www.dji.com/drone-dji/1.0/"
             dji:GpsLongtitude='+11.5' dji:AbsoluteAltitude="+519.2" xmlns:crs="c" crs:Opacity="7">
             <!-- taken in Passau --><q:GPSAltitude>519/1</q:GPSAltitude>
             <l:LocationShown xmlns:l="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"><rdf:Bag><rdf:li><x:City>Passau</x:City>
             </rdf:li></rdf:Bag></l:LocationShown><dc:rights xmlns:dc="d"><![CDATA[<City>]]> Jane</dc:rights></rdf:Description>
            """ + end

    @Test("XMP loses the place under any prefix, as attribute or element, and everything else stays")
    func placeInXMP() throws {
        let (result, file) = try render(photograph(Self.hidden), "save metadata=keep-without-place")
        for word in ["48,8N", "48.1", "11.5", "519", "Passau", "LocationShown", "geo"] {
            #expect(try !has(word, in: file), "\(word)")
        }
        #expect(try has("crs:Opacity=\"7\"", in: file) && has("<![CDATA[<City>]]> Jane", in: file))
        #expect(result.dropped == nil)
        #expect(try has(Self.hidden, in: render(photograph(Self.hidden), "save").file))
    }

    @Test(
        "Unreadable XMP might contain a place: it is omitted, and the story says so",
        arguments: [
            hidden.replacing("</rdf:Description>", with: ""), "<!DOCTYPE x [<!ENTITY e 'Passau'>]><x>&e;</x>",
            hidden.replacing("geo:lat='48.1'", with: "geo:lat"), "Passau", "<x City='Passau'local='1'/>",
            "<x " + (0..<300).map { "xmlns:a\($0)='u'" }.joined(separator: " ") + ">Passau</x>",
        ])
    func unreadableXMP(xmp: String) throws {
        let (result, file) = try render(photograph(xmp), "save metadata=keep-without-place")
        #expect(result.dropped == ["XMP that can't be read"])
        #expect(try !has("Passau", in: file))
    }

    @Test("EXIF with nothing but the orientation contains no place, and its loss is not reported")
    func orientationAlone() throws {
        let block: [UInt8] =
            Array("Exif\0\0II".utf8) + [42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
        let plain = try Pixels.colourful(64, 48).file(.jpeg, strip: true)
        let jpeg = try withSegment(0xe1, block, in: plain)
        #expect(try render(jpeg, "save metadata=keep-without-place").result.dropped == nil)
        let odd = try withSegment(0xe1, Array("Exif\0\0odd".utf8), in: plain)
        #expect(try render(odd, "save metadata=keep-without-place").result.dropped == ["EXIF that can't be read"])
    }

    @Test("Maker's notes and ImageMagick's texts go with the place", arguments: ["jpeg", "png", "tiff", "webp"])
    func hiddenPlaces(format: String) throws {
        // An EXIF block whose main directory only points to a second one, which contains the date and the maker's
        // notes.
        let (date, notes) = (Array("2021:01:02 03:04:05\0".utf8), Array("48.14N at Passau".utf8))
        let block: [UInt8] =
            Array("Exif\0\0II".utf8) + [42, 0, 8, 0, 0, 0, 1, 0, 0x69, 0x87, 4, 0, 1, 0, 0, 0, 26, 0, 0, 0, 0, 0, 0, 0]
            + [
                2, 0, 0x03, 0x90, 2, 0, 20, 0, 0, 0, 56, 0, 0, 0, 0x7c, 0x92, 7, 0, 16, 0, 0, 0, 76, 0, 0, 0, 0, 0, 0,
                0,
            ]
            + date + notes
        let jpeg = try withSegment(0xe1, block, in: Pixels.colourful(64, 48).file(.jpeg, strip: true))
        for (policy, isKept) in [("keep", true), ("keep-without-place", false)] {
            let file = try render(jpeg, "save format=\(format) metadata=\(policy)").file
            #expect(try has("Passau", in: file) == isKept, "\(policy)")
            #expect(try has("2021:01:02 03:04:05", in: file))
        }
        let png = try Pixels.colourful(64, 48).file(.png) { picture in
            for (number, key) in ["Raw profile type exif", "exif:GPSLatitude", "photoshop:City", "Title"].enumerated() {
                vips_image_set_string(picture.image, "png-comment-\(number)-\(key)", "in Passau \(number)")
            }
            return picture
        }
        let result = try VipsPicture(render(png, "save format=png metadata=keep-without-place").file)
        func hasText(_ key: String) -> Bool { (0..<4).contains { result.has("png-comment-\($0)-\(key)") } }
        #expect(hasText("Title") && !hasText("Raw profile type exif"))
        #expect(!hasText("exif:GPSLatitude") && !hasText("photoshop:City"))
    }

    @Test("The whole parts of truncated IPTC stay, but not the copies of EXIF and XMP in Photoshop's resources")
    func placeInPhotoshop() throws {
        func block(_ id: UInt8, _ data: [UInt8]) -> [UInt8] {
            Array("8BIM".utf8) + [4, id, 0, 0, 0, 0, 0, UInt8(data.count)] + data
        }
        func set(_ number: UInt8, _ text: String) -> [UInt8] {
            [0x1c, 2, number, 0, UInt8(text.utf8.count)] + text.utf8
        }
        let iptc = set(90, "Passau") + set(105, "Flood") + [0x1c, 2, 95, 0x80, 4, 0, 0, 0, 6] + Array("Bayern".utf8)
        let cut = set(101, "Germania").dropLast(2)
        let prefix = Array("Photoshop 3.0\0".utf8)
        let resources =
            block(0x22, Array("Innstadt".utf8)) + block(0x04, iptc + cut) + block(0x24, Array("Ilzstadt".utf8))
        for (format, fields) in [
            (Pixels.Format.jpeg, ["iptc-data": prefix + resources]),
            // libvips writes only a quarter of the field's length, so the field is padded to four times its size.
            (
                .tiff,
                [
                    "iptc-data": iptc + cut + Array(repeating: 0, count: 3 * (iptc + cut).count),
                    "photoshop-data": resources,
                ]
            ),
        ] {
            let source = try Pixels.colourful(64, 48).file(format) { picture in
                for (field, bytes) in fields { picture.set(field, bytes) }
                return picture
            }
            for result in ["jpeg", "tiff"] {
                let file = try render(source, "save format=\(result) metadata=keep-without-place").file
                for word in ["Passau", "Bayern", "German", "Innstadt", "Ilzstadt"] {
                    #expect(try !has(word, in: file), "\(word) in \(result) of \(format)")
                }
                #expect(try has("Flood", in: file), "\(result) of \(format)")
            }
        }
    }
}
