import CVips
import Foundation
import Glibc
import PipelineModel
import SystemCalls
import Testing
import WorkerProtocol

/// Checks a photograph's metadata after each combination of format, policy and decoder path. exiftool reads the
/// results.
struct MetadataMatrixTests {
    private static let formats = ["jpeg", "png", "webp", "tiff", "avif", "jxl"]
    private static let policies = ["keep", "keep-without-place", "strip", "copyright"]
    private static let tags = [
        "-EXIF:Make=Camera Works", "-EXIF:Artist=Jane", "-EXIF:Copyright=© Joe Doe 2026", "-ExifIFD:SerialNumber=12345",
        "-ExifIFD:DateTimeOriginal=2021:01:02 03:04:05", "-ExifIFD:ExposureTime=1/250", "-GPSLatitude=48.14",
        "-GPSLatitudeRef=N", "-XMP-photoshop:City=Passau", "-IPTC:City=Munich", "-EXIF:ImageDescription=A view",
        "-Comment=remark", "-EXIF:Software=Darkroom", "-XMP-xmp:Rating=4", "-IPTC:Headline=Flood",
        "-GPSAreaInformation=Hutthurm", "-GPSDestBearing=271.5", "-XMP-exif:GPSLatitude=48.14",
        "-XMP-exif:GPSAreaInformation=Ruhstorf", "-XMP-photoshop:State=Bavaria", "-XMP-photoshop:Country=Germania",
        "-XMP-iptcCore:Location=Ilzstadt", "-XMP-iptcCore:CountryCode=DEU", "-XMP-iptcExt:LocationShownCity=Vilshofen",
        "-XMP-iptcExt:LocationCreatedSublocation=Innstadt", "-IPTC:Sub-location=Schwabing",
        "-IPTC:Province-State=Oberland", "-IPTC:Country-PrimaryLocationName=Allemagne",
        "-IPTC:Country-PrimaryLocationCode=DEU", "-IPTC:ContentLocationName=Isar", "-IPTC:ContentLocationCode=DEU",
    ]
    /// Texts that reveal where the picture was taken.
    private static let places = [
        "Passau", "Munich", "Hutthurm", "Ruhstorf", "Bavaria", "Germania", "Ilzstadt", "DEU", "Vilshofen", "Innstadt",
        "Schwabing", "Oberland", "Allemagne", "Isar", "48,8.4",
    ]
    /// Texts that must appear neither in the tags nor in the bytes of a result with `strip`.
    private static let personal = [
        "Camera Works", "12345", "2021:01", "A view", "remark", "Darkroom", "Flood",
    ]

    /// A picture and a chain. Together they determine the decoder path.
    private struct Case {
        var name: String
        var source: TemporaryFile
        var chain: String
        var isGrey: Bool { chain.contains("noir") }
    }

    /// A result, with the worker's report about it.
    private struct Result {
        var of: Case
        var format: String
        var policy: String
        var file: TemporaryFile
        var lost: [String]
    }

    /// Returns a photograph with all kinds of metadata, in each format that the worker can read.
    private static func photographs() throws -> [(name: String, file: TemporaryFile)] {
        let kinds: [(String, Pixels.Format)] = [
            ("jpeg", .jpeg), ("png", .png), ("webp", .webp), ("tiff", .tiff), ("avif", .avif), ("heic", .heic),
        ]
        let files = try kinds.map { kind, format in
            let file = try Pixels.colourful(96, 64).file(format) {
                try $0.then { cvips_icc_transform($0, $1, "p3", "srgb", VIPS_INTENT_RELATIVE, 8) }
            }
            return (name: kind, file: file)
        }
        let thumbnail = try Pixels.colourful(32, 24).file(.jpeg)
        try ExifTool.write(tags + ["-ThumbnailImage<=\(thumbnail.path)"], into: files.map(\.file.path))
        return files
    }

    /// Renders one picture to all formats with all policies, as outputs of one job or as separate jobs.
    private func render(_ worker: WorkerProcess, _ one: Case, together: Bool) throws -> [Result] {
        let cells = Self.formats.flatMap { format in Self.policies.map { (format, $0) } }
        let outputs = try cells.map { format, policy in
            let chain = "\(one.chain.isEmpty ? "" : one.chain + " | ")save format=\(format) metadata=\(policy)"
            return RenderOutput(name: nil, stages: try worker.chain(chain))
        }
        let files = try cells.map { _ in try TemporaryFile() }
        var results: [RenderedOutput] = []
        for group in together ? [Array(cells.indices)] : cells.indices.map({ [$0] }) {
            _ = try worker.open([one.source], group.map { outputs[$0] })
            switch try worker.ask(.render, group.map { try files[$0].reopened(O_RDWR) }) {
            case .rendered(let made): results += made
            case let other: throw Unexpected("\(one.name): \(other)")
            }
        }
        return zip(zip(cells, files), results).map { made, result in
            Result(of: one, format: made.0.0, policy: made.0.1, file: made.1, lost: result.lost ?? [])
        }
    }

    @Test("Every policy keeps and removes its metadata, from and to every format, by each decoder path")
    func matrix() throws {
        let worker = try WorkerProcess("--jxl")
        let photographs = try Self.photographs()
        let jpeg = try #require(photographs.first).file
        var results: [Result] = []
        for (name, file) in photographs {
            results += try render(worker, Case(name: name, source: file, chain: ""), together: true)
        }
        // This JPEG is sRGB, so its luma alone can be decoded.
        let plain = try Pixels.colourful(96, 64).file(.jpeg)
        try ExifTool.write(Self.tags, into: [plain.path])
        for (source, chain) in [
            (jpeg, "resize scale=0.5"), (jpeg, "resize scale=0.5 kernel=lanczos3"), (plain, "noir"),
            (plain, "resize scale=0.5 | noir"),
        ] {
            results += try render(worker, Case(name: "jpeg, \(chain)", source: source, chain: chain), together: false)
        }
        let read = try ExifTool.read(results.map(\.file.path))
        for result in results { try check(result, #require(read[result.file.path])) }
    }

    @Test("Planes of JPEG and WebP get the same metadata as libvips gives to pixels, in each format, by every policy")
    func planes() throws {
        let worker = try WorkerProcess()
        let ways = ["", " kernel=lanczos3"]
        var pairs: [(name: String, files: [TemporaryFile])] = []
        for (kind, hasProfile, orientation) in [
            (Pixels.Format.jpeg, true, 1), (.jpeg, false, 6), (.webp, true, 3), (.webp, false, 1),
        ] {
            let source = try Pixels.colourful(201, 133).file(kind) { picture in
                let made =
                    try hasProfile
                    ? picture.then { cvips_icc_transform($0, $1, "srgb", "srgb", VIPS_INTENT_RELATIVE, 8) } : picture
                made.set("orientation", orientation)
                return made
            }
            try ExifTool.write(Self.tags + ["-XMP-tiff:Orientation#=\(orientation)"], into: [source.path])
            for (format, policy) in ["jpeg", "webp"].flatMap({ format in Self.policies.map { (format, $0) } }) {
                for filter in ["", "noir | "] {
                    let chains = ways.map {
                        "resize scale=0.5\($0) | \(filter)save format=\(format) metadata=\(policy)"
                    }
                    let path = try worker.open(source, chains[0]).decoderPaths[0]
                    #expect(path.contains(filter.isEmpty ? "planes, 1/2" : "greyscale, 1/2"), "\(path)")
                    let files = try chains.map { try worker.render(source, $0) }
                    let name = "\(kind), profile \(hasProfile), orientation \(orientation): \(chains[0])"
                    pairs.append((name, files))
                }
            }
        }
        let read = try ExifTool.read(pairs.flatMap(\.files).map(\.path))
        for (name, files) in pairs {
            let tags = try files.map { file in
                try #require(read[file.path]).filter { tag, _ in
                    // Ignore differences in the encoded pixels and the file's size.
                    !["SourceFile", "System:", "File:FileSize", "RIFF:"].contains { tag.hasPrefix($0) }
                }
            }
            let differing = Set(tags[0].keys).union(tags[1].keys).filter { tags[0][$0] != tags[1][$0] }
                .map { "\($0): \(tags[0][$0] ?? "none"), by libvips \(tags[1][$0] ?? "none")" }
            #expect(differing.isEmpty, "\(name): \(differing)")
        }
    }

    @Test("A picture behind a barrier keeps as much metadata")
    func handedOver() throws {
        var results: [Result] = []
        for (name, file) in try Self.photographs() where name != "avif" {
            let one = Case(name: name, source: file, chain: "barrier")
            for (format, policy) in ["jpeg", "tiff"].flatMap({ format in Self.policies.prefix(2).map { (format, $0) } })
            {
                let made = try HandOverTests().cut(file, "barrier | save format=\(format) metadata=\(policy)")
                let lost = name == "png" ? ["comments"] : []
                results.append(Result(of: one, format: format, policy: policy, file: made, lost: lost))
            }
        }
        let read = try ExifTool.read(results.map(\.file.path))
        for result in results { try check(result, #require(read[result.file.path])) }
    }

    private func check(_ result: Result, _ tags: [String: String]) throws {
        let place = Comment(rawValue: "\(result.of.name) → \(result.format), \(result.policy)")
        let groups = Set(tags.keys.compactMap { $0.split(separator: ":").first.map(String.init) })
        #expect(!tags.keys.contains { $0.contains("Thumbnail") }, place)
        #expect(tags["IFD0:Orientation"].map { $0 == "1" } ?? true, place)
        if result.format == "tiff" { #expect(tags["ExifTool:Warning"] == nil, place) }
        let bytes = String(decoding: try result.file.bytes, as: UTF8.self)
        if result.policy != "keep" {
            for text in Self.places {
                #expect(!tags.values.contains { $0.contains(text) } && !bytes.contains(text), "\(text): \(place)")
            }
            #expect(!tags.keys.contains { $0.contains("GPS") }, "\(tags.keys) \(place)")
        }
        if result.policy.hasPrefix("keep") { return try checkKept(result, tags, place) }

        for text in Self.personal {
            #expect(!tags.values.contains { $0.contains(text) } && !bytes.contains(text), "\(text): \(place)")
        }
        #expect(
            !groups.contains { $0.hasPrefix("XMP") || ["GPS", "IPTC", "Photoshop"].contains($0) }, "\(groups) \(place)")
        #expect(result.lost.isEmpty, place)
        if result.policy == "copyright" {
            #expect(tags["IFD0:Artist"] == "Jane" && tags["IFD0:Copyright"] == "© Joe Doe 2026", place)
        } else {
            #expect(!bytes.contains("Jane") && !bytes.contains("Joe Doe"), place)
            #expect(groups.isDisjoint(with: ["ExifIFD", "IFD1", "ICC_Profile", "ICC-header"]), "\(groups) \(place)")
            if result.format != "tiff" { #expect(!groups.contains("IFD0"), place) }
        }
    }

    private func checkKept(_ result: Result, _ tags: [String: String], _ place: Comment) throws {
        let expected = [
            "IFD0:Make": "Camera Works", "IFD0:Artist": "Jane", "IFD0:Copyright": "© Joe Doe 2026",
            "IFD0:ImageDescription": "A view", "IFD0:Software": "Darkroom", "ExifIFD:SerialNumber": "12345",
            "ExifIFD:DateTimeOriginal": "2021:01:02 03:04:05", "ExifIFD:ExposureTime": "0.004",
            "XMP-xmp:Rating": "4",
        ]
        let places = ["GPS:GPSLatitudeRef": "N", "XMP-photoshop:City": "Passau", "XMP-iptcCore:Location": "Ilzstadt"]
        let hasPlace = result.policy == "keep"
        for (tag, value) in expected { #expect(tags[tag] == value, "\(tag): \(place)") }
        for (tag, value) in places { #expect(tags[tag] == (hasPlace ? value : nil), "\(tag): \(place)") }
        let latitude = tags["GPS:GPSLatitude"].flatMap(Double.init)
        #expect(latitude.map { abs($0 - 48.14) < 0.0001 } == (hasPlace ? true : nil), place)
        let width = result.of.chain.contains("resize") ? "48" : "96"
        #expect(tags["ExifIFD:ExifImageWidth"] ?? width == width, place)
        let hasIPTC = ["jpeg", "tiff"].contains { result.of.name.hasPrefix($0) }
        if hasIPTC, ["jpeg", "tiff"].contains(result.format) {
            #expect(tags["IPTC:City"] == (hasPlace ? "Munich" : nil) && tags["IPTC:Headline"] == "Flood", place)
        } else {
            #expect(result.lost.contains("IPTC") == hasIPTC, "\(result.lost) \(place)")
        }
        let hasComments = result.of.name == "png"
        #expect(result.lost.contains("comments") == (hasComments && result.format != "png"), place)
        // exiftool does not read the codestream of a JPEG XL, which contains the profile.
        #expect(tags.keys.contains { $0.hasPrefix("ICC") } == (!result.of.isGrey && result.format != "jxl"), place)
    }
}
