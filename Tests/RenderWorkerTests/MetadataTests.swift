import CVips
import PipelineModel
import Testing
import WorkerProtocol

struct MetadataTests {
    private static let xmp = Array("<x:xmpmeta><rdf:Description tiff:Orientation=\"6\"/>Jörg</x:xmpmeta>".utf8)

    /// Returns a photograph with a camera's metadata.
    static func photograph(_ format: Pixels.Format = .jpeg) throws -> TemporaryFile {
        try Pixels.colourful(320, 240).file(format) {
            let picture = try $0.then { cvips_icc_transform($0, $1, "srgb", "srgb", VIPS_INTENT_RELATIVE, 8) }
            picture.set("exif-ifd0-Copyright", "Joe Doe 2026")
            picture.set("exif-ifd0-Artist", "Jane")
            picture.set("exif-ifd0-Make", "Camera Works")
            picture.set("exif-ifd2-BodySerialNumber", "12345")
            picture.set("exif-ifd3-GPSLatitude", "48/1 8/1 30/1")
            picture.set("xmp-data", xmp)
            picture.set("iptc-data", Array("Photoshop 3.0\0".utf8) + [0x1c, 2, 80, 0, 4] + Array("Jane".utf8))
            picture.set("orientation", 6)
            return picture
        }
    }

    /// Chains for which the worker decodes shrunk luma, shrunk colours, and luma at full size.
    private static let chains = ["resize scale=0.5 | noir", "resize scale=0.5", "noir contrast=2"]

    @Test("keep preserves EXIF, XMP and IPTC, upright, and removes the thumbnail", arguments: chains)
    func keep(chain: String) throws {
        let result = try VipsPicture(WorkerProcess().render(Self.photograph(), chain))
        #expect(result.exif("ifd0-Copyright") == "Joe Doe 2026")
        #expect(result.exif("ifd0-Make") == "Camera Works")
        #expect(result.text("exif-ifd3-GPSLatitude")?.hasPrefix("48/1 8/1 30/1") == true)
        #expect(result.text("exif-ifd0-Orientation")?.hasPrefix("1 ") == true)
        #expect(String(decoding: result.blob("xmp-data") ?? [], as: UTF8.self).contains("tiff:Orientation=\"1\"/>Jörg"))
        #expect(result.has("iptc-data"))
        #expect(!result.has("jpeg-thumbnail-data"))
        #expect(result.has("icc-profile-data") == (chain == "resize scale=0.5"))
    }

    /// Returns an unnamed block of Photoshop's resource list.
    private static func block(_ id: UInt8, _ data: [UInt8]) -> [UInt8] {
        Array("8BIM".utf8) + [4, id, 0, 0, 0, 0, 0, UInt8(data.count)] + data
    }

    @Test("Photoshop's thumbnails, in a JPEG and a TIFF, never reach a result, but its other blocks do")
    func photoshop() throws {
        let worker = try WorkerProcess()
        let prefix = Array("Photoshop 3.0\0".utf8)
        let thumbnails = Self.block(0x09, Array("old ".utf8)) + Self.block(0x0c, Array("tiny".utf8))
        let iptc: [UInt8] = [0x1c, 2, 80, 0, 3] + Array("Ada".utf8)
        let angle = Self.block(0x0d, [0, 0, 0, 30])
        let kinds: [(source: Pixels.Format, fields: [String: [UInt8]], others: Bool, iptc: Bool)] = [
            (.jpeg, ["iptc-data": prefix + thumbnails], false, false),
            (.jpeg, ["iptc-data": prefix + angle + thumbnails + Self.block(0x04, iptc)], true, true),
            (.jpeg, ["iptc-data": prefix + thumbnails.dropLast()], false, false),
            (.tiff, ["photoshop-data": thumbnails], false, false),
            (.tiff, ["photoshop-data": thumbnails + angle, "iptc-data": iptc], true, true),
        ]
        for kind in kinds {
            let source = try Pixels.colourful(64, 48).file(kind.source) { picture in
                for (field, bytes) in kind.fields { picture.set(field, bytes) }
                return picture
            }
            for format in ["jpeg", "tiff", "webp"] {
                let file = try worker.render(source, "save format=\(format)")
                let text = String(decoding: try file.bytes, as: UTF8.self)
                let place = Comment(rawValue: "\(kind) → \(format)")
                #expect(!text.contains("tiny") && !text.contains("old "), place)
                let result = try VipsPicture(file)
                #expect(result.has("iptc-data") == (kind.iptc && format != "webp"), place)
                if format == "tiff" { #expect(result.blob("photoshop-data") == (kind.others ? angle : nil), place) }
            }
        }
    }

    @Test("strip removes all metadata", arguments: chains)
    func strip(chain: String) throws {
        let result = try VipsPicture(WorkerProcess().render(Self.photograph(), chain + " | save metadata=strip"))
        for field in ["exif-data", "xmp-data", "iptc-data", "icc-profile-data"] {
            #expect(!result.has(field), "\(field)")
        }
    }

    @Test(
        "copyright keeps author and copyright, and no other personal data",
        arguments: ["jpeg", "webp", "png", "avif"])
    func copyright(format: String) throws {
        let chain = "resize scale=0.5 | noir | save metadata=copyright format=\(format)"
        let file = try WorkerProcess().render(Self.photograph(), chain)
        let result = try VipsPicture(file)
        #expect(result.exif("ifd0-Copyright") == "Joe Doe 2026")
        #expect(result.exif("ifd0-Artist") == "Jane")
        for field in ["exif-ifd0-Make", "exif-ifd3-GPSLatitude", "exif-ifd2-BodySerialNumber", "xmp-data", "iptc-data"]
        {
            #expect(!result.has(field), "\(field)")
        }
        let text = String(decoding: try file.bytes, as: UTF8.self)
        #expect(!text.contains("12345") && !text.contains("Camera Works"))
    }

    @Test(
        "Missing author and copyright are added, with the picture's date, and existing ones stay",
        arguments: ["jpeg", "png", "webp", "tiff", "avif", "jxl"], ["keep", "copyright"])
    func credit(format: String, policy: String) throws {
        let worker = try WorkerProcess("--jxl")
        let save =
            "save format=\(format) metadata=\(policy) artist=Ada copyright=\"© {date:%Y} Ada (Lovelace), {date}\""
        let dated = { (picture: VipsPicture) in
            picture.set("exif-ifd2-DateTimeOriginal", "2019:07:04 10:00:00")
            picture.set("exif-ifd0-Artist", "   ")
            picture.set("exif-ifd0-Make", "Camera Works")
            return picture
        }
        // The sources are a JPEG that stays in planes, a decoded JPEG, and a TIFF with its own EXIF.
        for (source, start) in [
            (try Pixels.colourful(64, 48).file(.jpeg, prepare: dated), ""),
            (try Pixels.colourful(64, 48).file(.jpeg, prepare: dated), "sepia | "),
            (try worker.render(Pixels.colourful(64, 48).file(.jpeg, prepare: dated), "save format=tiff"), ""),
        ] {
            let tags = try Self.tags(of: worker.render(source, start + save))
            #expect(tags["IFD0:Artist"] == "Ada", "\(tags)")
            #expect(tags["IFD0:Copyright"] == "© 2019 Ada (Lovelace), 2019-07-04")
            #expect(tags["IFD0:Make"] == (policy == "keep" ? "Camera Works" : nil))
            #expect(tags["ExifIFD:DateTimeOriginal"] == (policy == "keep" ? "2019:07:04 10:00:00" : nil))
        }
        let own = try Self.tags(of: worker.render(Self.photograph(), save))
        #expect(own["IFD0:Artist"] == "Jane" && own["IFD0:Copyright"] == "Joe Doe 2026")
        let bare = try Self.tags(of: worker.render(Pixels.colourful(64, 48).file(.png), save))
        #expect(bare["IFD0:Artist"] == "Ada")
        #expect(bare["IFD0:Copyright"]?.hasPrefix("© 20") == true)
    }

    @Test(
        "The EXIF date is read if a name asks for it, and the first valid date counts",
        arguments: ["jpeg", "png", "webp", "tiff", "avif"])
    func date(format: String) throws {
        let worker = try WorkerProcess()
        func read(_ dates: KeyValuePairs<String, String>, asking: Bool = true) throws -> PictureDate? {
            let photograph = try Pixels.colourful(64, 48).file(.jpeg) { picture in
                for (field, text) in dates { picture.set("exif-\(field)", text) }
                return picture
            }
            let source = try worker.render(photograph, "save format=\(format)")
            var output = RenderOutput(name: nil, stages: try worker.chain("resize scale=0.5"))
            output.wantsDate = asking
            return try worker.open([source], [output]).taken
        }
        let taken = try read([
            "ifd2-DateTimeOriginal": "2019:07:04 10:00:00", "ifd2-DateTimeDigitized": "2020:01:01 00:00:00",
        ])
        #expect(taken?.words == "2019-07-04 10:00:00, from EXIF's DateTimeOriginal")
        let other = try read([
            "ifd2-DateTimeOriginal": "2019:13:04 10:00:00", "ifd2-DateTimeDigitized": "2020:01:02 03:04:05",
        ])
        #expect(other?.words == "2020-01-02 03:04:05, from EXIF's DateTimeDigitized")
        #expect(try read(["ifd0-DateTime": "../../x"]) == nil)
        #expect(try read(["ifd2-DateTimeOriginal": "2019:07:04 10:00:00"], asking: false) == nil)
    }

    private static func tags(of file: TemporaryFile) throws -> [String: String] {
        try withExtendedLifetime(file) { try ExifTool.read([file.path]).values.first ?? [:] }
    }

    @Test("Each picture of a worker gets its own metadata, whatever the previous picture had")
    func oneAfterTheOther() throws {
        let worker = try WorkerProcess()
        let names = ["Jane", "Jane", "Joan", nil, "Jane", nil, nil, "Joan"]
        for format in ["jpeg", "webp"] {
            for (number, name) in names.enumerated() {
                let source = try Pixels.colourful(64 + 2 * number, 64).file(.jpeg) {
                    if let name { $0.set("exif-ifd0-Artist", name) }
                    $0.set("exif-ifd2-PixelXDimension", "\(64 + 2 * number)")
                    return $0
                }
                let result = try VipsPicture(
                    worker.render(source, "resize scale=0.5 | noir | save format=\(format)"))
                #expect(result.exif("ifd0-Artist") == name)
                #expect(result.exif("ifd2-PixelXDimension") == "\(32 + number)")
            }
        }
    }

    private static let marks = """
        <?xpacket begin='' id='x'?><x:xmpmeta xmlns:x='adobe:ns:meta/' x:xmptk='Darkroom'>
        <rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description rdf:about=''
        xmlns:ext='http://iptc.org/std/Iptc4xmpExt/2008-02-29/' xmlns:photoshop='http://ns.adobe.com/photoshop/1.0/'
        xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:xmp='http://ns.adobe.com/xap/1.0/' xmp:Rating='4'
        ext:DigitalSourceType='http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia'
        photoshop:Credit='Some agency' photoshop:City='Passau' xmlns:plus='http://ns.useplus.org/ldf/xmp/1.0/'>
        <!-- by hand --><dc:rights><rdf:Alt><rdf:li xml:lang='x-default'>© Jane</rdf:li></rdf:Alt></dc:rights>
        <dc:subject><rdf:Bag><rdf:li>a birthday</rdf:li></rdf:Bag></dc:subject>
        <ext:PersonInImage><rdf:Bag><rdf:li>Ada</rdf:li></rdf:Bag></ext:PersonInImage>
        <plus:Licensor><rdf:Seq><rdf:li plus:LicensorURL='https://agency.example'/></rdf:Seq></plus:Licensor>
        </rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end='w'?>
        """

    @Test(
        "copyright keeps IPTC's digital source type and the credits of XMP and IPTC, and nothing else of them",
        arguments: ["jpeg", "png", "webp", "tiff", "avif"], ["", "resize scale=0.5 | ", "resize scale=0.5 | noir | "])
    func marks(format: String, chain: String) throws {
        func set(_ number: UInt8, _ text: String) -> [UInt8] {
            [0x1c, 2, number, 0, UInt8(text.utf8.count)] + text.utf8
        }
        let iptc = set(80, "Jane") + set(90, "Munich") + set(110, "Some agency") + set(120, "A birthday")
        let source = try Pixels.colourful(64, 48).file(.jpeg) { picture in
            picture.set("xmp-data", Array(Self.marks.utf8))
            picture.set("iptc-data", Array("Photoshop 3.0\0".utf8) + Self.block(0x04, iptc))
            return picture
        }
        let file = try WorkerProcess().render(source, "\(chain)save format=\(format) metadata=copyright")
        let result = try VipsPicture(file)
        // libvips does not find all XMP of an AVIF, so search the whole file.
        let xmp = String(decoding: try format == "avif" ? file.bytes : result.blob("xmp-data") ?? [], as: UTF8.self)
        for word in ["trainedAlgorithmicMedia", "Some agency", "© Jane", "x-default", "https://agency.example"] {
            #expect(xmp.contains(word), "\(word)")
        }
        for word in ["Rating", "Passau", "by hand", "birthday", "Ada", "Person", "subject"] {
            #expect(!xmp.contains(word), "\(word)")
        }
        guard ["jpeg", "tiff"].contains(format) else { return }
        let kept = String(decoding: result.blob("iptc-data") ?? [], as: UTF8.self)
        #expect(kept.contains("Jane") && kept.contains("Some agency"))
        #expect(!kept.contains("Munich") && !kept.contains("birthday"))
    }

    @Test("copyright leaves out XMP without a mark of origin, and XMP that can't be read, which the story says")
    func withoutMarks() throws {
        for (xmp, dropped) in [
            ("<x xmlns='a' City='Passau'/>", nil), ("<x City='Passau'", ["XMP that can't be read"]),
        ] {
            let source = try Pixels.colourful(64, 48).file(.jpeg) { picture in
                picture.set("xmp-data", Array(xmp.utf8))
                return picture
            }
            let worker = try WorkerProcess()
            _ = try worker.open(source, "save metadata=copyright")
            let file = try TemporaryFile()
            #expect(try worker.render(into: file).first?.dropped == dropped)
            #expect(try !String(decoding: file.bytes, as: UTF8.self).contains("Passau"))
        }
    }

    @Test("copyright keeps nothing if there is no author or copyright")
    func copyrightOfNone() throws {
        let source = try Pixels.colourful(64, 64).file(.jpeg) {
            $0.set("exif-ifd0-Make", "Camera Works")
            return $0
        }
        let result = try VipsPicture(WorkerProcess().render(source, "save metadata=copyright"))
        #expect(!result.has("exif-ifd0-Make") && !result.has("exif-ifd0-Copyright"))
    }

    @Test("Names in EXIF pass unchanged, in any encoding", arguments: ["keep", "copyright"])
    func namesInUTF8(metadata: String) throws {
        let name = Array("© Jörg (Berlin)\0".utf8)
        // The EXIF's only entry is Artist, and its text is not converted to ASCII.
        let exif: [UInt8] =
            Array("Exif\0\0II".utf8) + [
                42, 0, 8, 0, 0, 0, 1, 0, 0x3b, 0x01, 2, 0, UInt8(name.count), 0, 0, 0, 26, 0, 0, 0,
            ]
            + [0, 0, 0, 0] + name
        let source = try Self.withEXIF(exif, in: Pixels.colourful(64, 64).file(.jpeg, strip: true))
        for chain in ["noir", "resize scale=0.5", "resize scale=0.5 | noir"] {
            let result = try WorkerProcess().render(source, chain + " | save metadata=\(metadata)")
            let text = String(decoding: try result.bytes, as: UTF8.self)
            #expect(text.contains("© Jörg (Berlin)"), "\(chain)")
        }
    }

    /// Inserts EXIF directly after the JPEG's first marker.
    private static func withEXIF(_ exif: [UInt8], in file: TemporaryFile) throws -> TemporaryFile {
        let bytes = try file.bytes
        let length = exif.count + 2
        return try TemporaryFile(
            bytes.prefix(2) + [0xff, 0xe1, UInt8(length >> 8), UInt8(length & 255)] + exif + bytes.dropFirst(2))
    }
}
