import CVips
import PipelineModel
import Testing
import WorkerProtocol

/// A sign of a gain map or a manifest in a WebP, TIFF or HEIF.
enum AttachedSign: String, CaseIterable {
    case webPManifest, webPPlainManifest, webPGainMap, webPBoth
    case tiffManifest, tiffGainMap, tiffBoth
    case heicManifest, avifManifest, heicAppleGainMap, heicGainMap, avifGainMap, heicXMP, avifXMP, heicProvenance

    var hasManifest: Bool {
        switch self {
        case .webPManifest, .webPPlainManifest, .tiffManifest, .heicManifest, .avifManifest, .heicProvenance, .webPBoth,
            .tiffBoth:
            true
        case .webPGainMap, .tiffGainMap, .heicAppleGainMap, .heicGainMap, .avifGainMap, .heicXMP, .avifXMP: false
        }
    }

    var hasGainMap: Bool { !hasManifest || self == .webPBoth || self == .tiffBoth }

    private static let xmp = packet(
        """
        xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0"
        xmlns:Container="http://ns.google.com/photos/1.0/container/" Container:Version="1"
        """)
    /// XMP that refers to a manifest in the same file, as Adobe's programs write it.
    private static let provenance = packet(
        "xmlns:dcterms='http://purl.org/dc/terms/' dcterms:provenance='self#jumbf=/c2pa/adobe:urn:uuid:1'")

    private static func packet(_ attributes: String) -> String {
        """
        <?xpacket begin='' id='x'?><x:xmpmeta xmlns:x='adobe:ns:meta/'>
        <rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description \(attributes)
        xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="4"/></rdf:RDF></x:xmpmeta><?xpacket end='w'?>
        """
    }

    private static let manifest = Array("\0\0\0\u{20}jumb\0\0\0\u{18}jumdc2pa".utf8)

    func file() throws -> TemporaryFile {
        switch self {
        case .webPManifest: try Self.webP(Self.photograph(.webp, Self.packet("")))
        case .webPPlainManifest: try Self.webP(Pixels.colourful(64, 48).file(.webp, strip: true))
        case .webPGainMap: try Self.photograph(.webp, Self.xmp)
        case .webPBoth: try Self.webP(Self.photograph(.webp, Self.xmp))
        case .tiffManifest: try Self.tiff(Pixels.colourful(64, 48).file(.tiff))
        case .tiffGainMap: try Self.photograph(.tiff, Self.xmp)
        case .tiffBoth: try Self.tiff(Self.photograph(.tiff, Self.xmp))
        case .heicManifest: try Self.heif(.heic) { $0.append("uuid", Self.c2pa + Self.manifest) }
        case .avifManifest: try Self.heif(.avif) { $0.append("uuid", Self.c2pa + Self.manifest) }
        case .heicAppleGainMap:
            // By this property, Apple's software identifies the item that contains the gain map.
            try Self.heif(.heic) { file in
                try file.insert(
                    "auxC", [0, 0, 0, 0] + Array("urn:com:apple:photo:2020:aux:hdrgainmap\0".utf8),
                    into: ["iprp", "ipco"])
            }
        case .heicGainMap: try Self.heif(.heic, Self.addMappedItem)
        case .avifGainMap: try Self.heif(.avif, Self.addMappedItem)
        case .heicXMP: try Self.photograph(.heic, Self.xmp)
        case .avifXMP: try Self.photograph(.avif, Self.xmp)
        case .heicProvenance: try Self.photograph(.heic, Self.provenance)
        }
    }

    private static func photograph(_ format: Pixels.Format, _ xmp: String) throws -> TemporaryFile {
        try Pixels.colourful(64, 48).file(format) { picture in
            picture.set("xmp-data", Array(xmp.utf8))
            return picture
        }
    }

    /// Appends a chunk to a WebP.
    private static func webP(_ file: TemporaryFile) throws -> TemporaryFile {
        var bytes = try file.bytes + Array("C2PA".utf8) + Bitmap.number(manifest.count) + manifest
        bytes.replaceSubrange(4..<8, with: Bitmap.number(bytes.count - 8))
        return try TemporaryFile(bytes)
    }

    /// Replaces the directory of a single-page TIFF with a copy that has an additional entry.
    private static func tiff(_ file: TemporaryFile) throws -> TemporaryFile {
        var bytes = try file.bytes
        let at = number(bytes[4..<8])
        let count = number(bytes[at..<at + 2])
        let entries = bytes[at + 2..<at + 2 + 12 * count]
        let content = bytes.count + bytes.count % 2
        let directory = content + manifest.count + manifest.count % 2
        bytes += [UInt8](repeating: 0, count: content - bytes.count) + manifest
        bytes += [UInt8](repeating: 0, count: directory - bytes.count)
        // The entry comes last, because its tag is higher than all others. Type 7 means untyped bytes.
        let entry = [0x41, 0xcd, 7, 0] + Bitmap.number(manifest.count) + Bitmap.number(content)
        bytes += Bitmap.number(count + 1, 2) + entries + entry + Bitmap.number(0)
        bytes.replaceSubrange(4..<8, with: Bitmap.number(directory))
        return try TemporaryFile(bytes)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reversed().reduce(0) { $0 << 8 | Int($1) } }

    private static let uuid: [UInt8] = [
        0xd8, 0xfe, 0xc3, 0xd6, 0x1b, 0x0e, 0x48, 0x3c, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7e, 0xc4, 0x81,
    ]
    /// The start of a C2PA box: its ID, version and purpose, and the offset of a further box.
    private static let c2pa = uuid + [0, 0, 0, 0] + Array("manifest\0".utf8) + [UInt8](repeating: 0, count: 8)

    /// Adds the item that represents the picture together with its gain map (ISO 21496-1).
    private static func addMappedItem(to file: inout HEIFFile) throws {
        try file.addItem("tmap", number: 9)
    }

    private static func heif(
        _ format: Pixels.Format, _ change: (inout HEIFFile) throws -> Void
    ) throws -> TemporaryFile {
        var file = HEIFFile(bytes: try Pixels.colourful(64, 48).file(format).bytes)
        try change(&file)
        return try TemporaryFile(file.bytes)
    }
}

/// Tests signs of gain maps and manifests in WebP, TIFF and HEIF.
struct AttachedSourceTests {
    @Test(
        "A gain map or manifest is reported by each of its signs, and no result promises it",
        arguments: AttachedSign.allCases)
    func told(sign: AttachedSign) throws {
        let source = try sign.file()
        let worker = try WorkerProcess()
        for format in ["jpeg", "webp", "tiff", "avif"] {
            for policy in ["keep", "keep-without-place", "copyright", "strip"] {
                _ = try worker.open(source, "save format=\(format) metadata=\(policy)")
                let file = try TemporaryFile()
                let result = try #require(worker.render(into: file).first)
                let isDropped = sign.hasManifest && policy != "strip"
                #expect(result.dropped == (isDropped ? ["C2PA manifest"] : nil), "\(format), \(policy)")
                let lost = "without gain map: pipelined reads gain maps of a JPEG only"
                #expect(result.gainMap == (sign.hasGainMap ? lost : nil), "\(format), \(policy)")
                let text = String(decoding: try file.bytes, as: UTF8.self)
                let promises = ["hdrgm", "Container:", "tmap", "hdrgainmap", "C2PA", "c2pa", "provenance"]
                    .filter(text.contains)
                #expect(promises == [], "\(format), \(policy)")
                // The XMP packet keeps its other properties.
                let isKept = text.contains("xmp:Rating=\"4\"")
                #expect(isKept == (policy.hasPrefix("keep") && sign.hasXMP), "\(format), \(policy)")
            }
        }
    }

    @Test("The pixels equal those of a file without the part", arguments: AttachedSign.allCases)
    func pixels(sign: AttachedSign) throws {
        let made = try Pixels(WorkerProcess().render(sign.file(), "save format=png"))
        #expect(made.likeness(Pixels.colourful(64, 48)) > 30)
    }
}

extension AttachedSign {
    fileprivate var hasXMP: Bool {
        switch self {
        case .webPManifest, .webPGainMap, .webPBoth, .tiffGainMap, .tiffBoth, .heicXMP, .avifXMP, .heicProvenance: true
        case .webPPlainManifest, .tiffManifest, .heicManifest, .avifManifest, .heicAppleGainMap, .heicGainMap,
            .avifGainMap:
            false
        }
    }
}
