/// A part that a file contains beside its picture. Results can keep only one of these parts: the gain map.
enum AttachedPart: String, CaseIterable {
    case gainMap = "gain map"
    case video
    case manifest = "C2PA manifest"

    /// Whether a property such as `hdrgm:Version`, `Container:Directory` or `dcterms:provenance` promises a part beside
    /// the picture.
    static func isPromised(by name: XMPPacket.Name) -> Bool {
        gainMapSpaces.contains(name.space) || name.space == termsSpace && name.local == provenance
            || name.space.hasPrefix(containerSpace)
            || name.space == cameraSpace && videoNames.contains { name.local.hasPrefix($0) }
            || name.local == extended
    }

    /// Whether an XMP packet may contain a property that `isPromised` accepts. Thanks to this quick search, most
    /// packets need not be parsed, because few contain such a property.
    static func mayBePromised(in xmp: [UInt8]) -> Bool {
        (gainMapSpaces + videoNames + [containerSpace, extended, provenance]).contains { xmp.contains(text: $0) }
    }

    /// Whether an XMP packet names the location of a C2PA manifest.
    fileprivate static func hasManifest(in xmp: [UInt8]) -> Bool {
        xmp.contains(text: termsSpace) && xmp.contains(text: provenance)
    }

    fileprivate static let gainMapSpaces = [GainMapNumbers.space, GainMap.appleSpace]
    /// Common prefix of two namespaces: one for the list of a file's parts, and one for the items of that list.
    private static let containerSpace = "http://ns.google.com/photos/1.0/container/"
    private static let cameraSpace = "http://ns.google.com/photos/1.0/camera/"
    fileprivate static let videoNames = ["MotionPhoto", "MicroVideo"]
    private static let termsSpace = "http://purl.org/dc/terms/"
    /// Property that names the location of a C2PA manifest: in the file, or at a URL. In both cases, the manifest
    /// describes the bytes of the original, so it does not fit a result.
    private static let provenance = "provenance"
    /// Property that announces more XMP in further segments of a JPEG, which libvips does not read.
    private static let extended = "HasExtendedXMP"
}

extension SourceFile {
    /// The parts that the file contains beside its picture.
    func attachedParts(xmp: [UInt8]) -> Set<AttachedPart> {
        var parts: Set<AttachedPart> = []
        if AttachedPart.gainMapSpaces.contains(where: { xmp.contains(text: $0) }) { parts.insert(.gainMap) }
        if AttachedPart.videoNames.contains(where: { xmp.contains(text: "Camera:\($0)") }) { parts.insert(.video) }
        if AttachedPart.hasManifest(in: xmp) { parts.insert(.manifest) }
        switch format {
        case .jpeg: parts.formUnion(attachedToJPEG)
        case .png: if pngChunks.contains("caBX") { parts.insert(.manifest) }
        case .webp: if webPChunks.contains("C2PA") { parts.insert(.manifest) }
        case .tiff: if tiffDirectory?.has(0xcd41) == true { parts.insert(.manifest) }
        case .heif, .avif: parts.formUnion(attachedToHEIF)
        case .gif, .bmp, .raw: break
        }
        return parts
    }

    /// Maximum number of segments, chunks or boxes to read; a file has only a few before its pixels.
    private static let most = 1000

    private var attachedToJPEG: Set<AttachedPart> {
        var parts: Set<AttachedPart> = []
        for segment in jpegSegments {
            // A segment may contain a C2PA manifest (in JUMBF boxes) or announce a gain map of ISO 21496-1.
            if segment.kind == 0xeb, exactly(segment.content, min(segment.length, 64))?.contains(text: "c2pa") == true {
                parts.insert(.manifest)
            }
            if segment.kind == 0xe2, exactly(segment.content, GainMapNumbers.urn.count) == GainMapNumbers.urn {
                parts.insert(.gainMap)
            }
        }
        return parts
    }

    /// The metadata markers at the start of a JPEG: the kind of each marker, and the offset and length of its content.
    var jpegSegments: [(kind: UInt8, content: Int, length: Int)] {
        var (segments, at) = ([(kind: UInt8, content: Int, length: Int)](), 2)
        for _ in 0..<Self.most {
            // APP markers and comments come first.
            guard let head = exactly(at, 4), head[0] == 0xff, (0xe0...0xef).contains(head[1]) || head[1] == 0xfe else {
                break
            }
            let length = max(2, Int(head[2]) << 8 + Int(head[3]))
            segments.append((head[1], at + 4, length - 2))
            at += 2 + length
        }
        return segments
    }

    /// Number of frames that an animated PNG declares.
    var framesOfPNG: Int? {
        pngPlaces["acTL"].flatMap { exactly($0 + 8, 4) }.map { TIFFForm(isBigEndian: true, isBig: false).number($0) }
    }

    private var pngChunks: Set<String> { Set(pngPlaces.keys) }

    private var pngPlaces: [String: Int] {
        let form = TIFFForm(isBigEndian: true, isBig: false)
        // A checksum follows the content.
        return chunks(from: 8) { head in (head[4...], form.number(head[..<4]) + 4) }
    }

    private var webPChunks: Set<String> {
        let form = TIFFForm(isBigEndian: false, isBig: false)
        return Set(chunks(from: 12) { head in (head[..<4], (form.number(head[4...]) + 1) / 2 * 2) }.keys)
    }

    /// The last position of each kind of chunk. `read` returns a chunk's name, and its length without the head.
    private func chunks(
        from start: Int, _ read: (_ head: [UInt8]) -> (name: ArraySlice<UInt8>, length: Int)
    ) -> [String: Int] {
        var (places, at) = ([String: Int](), start)
        for _ in 0..<Self.most {
            guard let head = exactly(at, 8) else { break }
            let (name, length) = read(head)
            places[String(decoding: name, as: UTF8.self)] = at
            at += 8 + length
        }
        return places
    }

    private var attachedToHEIF: Set<AttachedPart> {
        let c2pa: [UInt8] = [
            0xd8, 0xfe, 0xc3, 0xd6, 0x1b, 0x0e, 0x48, 0x3c, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7e, 0xc4, 0x81,
        ]
        var parts: Set<AttachedPart> = []
        for box in Boxes.all(size: size, exactly) {
            if box.name == "uuid", exactly(box.content, c2pa.count) == c2pa { parts.insert(.manifest) }
            let end = min(box.end, size, box.content + 65536)
            guard box.name == "meta", end > box.content, let meta = exactly(box.content, end - box.content) else {
                continue
            }
            let names = ["urn:com:apple:photo:2020:aux:hdrgainmap", "tmap"]
            if names.contains(where: { meta.contains(text: $0) }) { parts.insert(.gainMap) }
        }
        return parts
    }
}
