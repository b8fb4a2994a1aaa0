/// Photoshop's list of resource blocks. In a JPEG, IPTC is one of the blocks; a TIFF has IPTC beside the list.
struct PhotoshopResources {
    private struct Resource {
        var id: Int
        /// The whole block: head, data and padding.
        var bytes: [UInt8]
        var data: Range<Int>
    }

    static let prefix = Array("Photoshop 3.0\0".utf8)
    /// Signatures of blocks. Programs other than Photoshop have their own signatures.
    private static let signs = ["8BIM", "AgHg", "DCSR", "MeSa", "PHUT"]
    private static let iptcID = 0x0404
    /// The ID of the IPTC digest. If the digest does not match IPTC, readers know that a program has changed only IPTC.
    private static let digestID = 0x0425
    /// IDs of thumbnails, which show the picture before the filters.
    private static let thumbnailIDs = [0x0409, 0x040c]
    /// IDs of copies of metadata: EXIF in two pieces, and XMP.
    private static let copyIDs = [0x0422, 0x0423, 0x0424]

    private var list: [Resource] = []

    /// Reads all complete blocks except thumbnails; the list may be truncated. Nil if the bytes are not such a list.
    init?(_ bytes: [UInt8]) {
        let form = TIFFForm(isBigEndian: true, isBig: false)
        var at = bytes.starts(with: Self.prefix) ? Self.prefix.count : 0
        func isBlock() -> Bool { Self.signs.contains { bytes[at...].starts(with: $0.utf8) } }
        guard isBlock() else { return nil }
        while at + 12 <= bytes.count, isBlock() {
            // The name is a length byte and a text, padded to an even number of bytes.
            let name = (Int(bytes[at + 6]) + 2) / 2 * 2
            let head = 6 + name + 4
            guard at + head <= bytes.count else { break }
            let length = form.number(bytes[at + head - 4..<at + head])
            guard length <= bytes.count - at - head else { break }
            let end = min(at + head + length + length % 2, bytes.count)
            let id = form.number(bytes[at + 4..<at + 6])
            if !Self.thumbnailIDs.contains(id) {
                list.append(Resource(id: id, bytes: Array(bytes[at..<end]), data: head..<head + length))
            }
            at = end
        }
    }

    /// A list with IPTC as its only block.
    init(iptc: [UInt8]) {
        let form = TIFFForm(isBigEndian: true, isBig: false)
        let head = Array(Self.signs[0].utf8) + form.bytes(Self.iptcID, 2) + [0, 0] + form.bytes(iptc.count, 4)
        list = [
            Resource(
                id: Self.iptcID, bytes: head + iptc + (iptc.count % 2 == 1 ? [0] : []),
                data: head.count..<head.count + iptc.count)
        ]
    }

    var iptc: [UInt8]? { list.first { $0.id == Self.iptcID }.map { Array($0.bytes[$0.data]) } }

    var withoutIPTC: [UInt8] { list.filter { $0.id != Self.iptcID }.flatMap(\.bytes) }

    /// The list with its IPTC replaced by `iptc`.
    func with(iptc: [UInt8]) -> PhotoshopResources {
        var result = withoutDigest
        result.list = result.list.filter { $0.id != Self.iptcID } + PhotoshopResources(iptc: iptc).list
        return result
    }

    var withoutDigest: PhotoshopResources {
        var result = self
        result.list.removeAll { $0.id == Self.digestID }
        return result
    }

    /// The list without copies of EXIF and XMP, and with IPTC that names no places.
    var withoutPlace: PhotoshopResources {
        var result = self
        result.list = list.filter { !Self.copyIDs.contains($0.id) }.flatMap { resource in
            guard resource.id == Self.iptcID else { return [resource] }
            let left = IPTC.withoutPlace(Array(resource.bytes[resource.data]))
            return left.isEmpty ? [] : PhotoshopResources(iptc: left).list
        }
        return result
    }

    var bytes: [UInt8] { list.flatMap(\.bytes) }
}
