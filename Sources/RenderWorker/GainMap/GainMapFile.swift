/// A result's gain map as a JPEG of its own, and the markers by which the main picture announces it.
struct GainMapFile {
    let jpeg: [UInt8]
    let width: Int
    let height: Int
    private let announcesXMP: Bool
    private let announcesISO: Bool

    /// `encoded` is a JPEG without metadata.
    init(_ encoded: [UInt8], _ form: GainMap.Form, profile: [UInt8], _ width: Int, _ height: Int) {
        (self.width, self.height) = (width, height)
        var markers: [UInt8] = []
        switch form {
        // If the picture is made for HDR screens, the two forms define gains in opposite directions. So the gain map of
        // such a picture is written only in the source's form.
        case .xmp(let numbers):
            (announcesXMP, announcesISO) = (true, !numbers.isBaseHDR)
            markers += Self.xmp(numbers) + (announcesISO ? Self.iso(numbers.iso) : [])
        case .iso(let numbers, let binary):
            (announcesXMP, announcesISO) = (!numbers.isBaseHDR, true)
            markers += (announcesXMP ? Self.xmp(numbers) : []) + Self.iso(binary ?? numbers.iso)
        case .apple(let xmp, _):
            (announcesXMP, announcesISO) = (false, false)
            markers += Self.marker(0xe1, JPEGMarkers.xmp + xmp) ?? []
        }
        let parts = JPEGMarkers(encoded)
        jpeg = [0xff, 0xd8] + parts.markers.joined() + markers + profile + parts.rest
    }

    /// Returns the file of a result with this gain map. `picture` is the result's JPEG, with all other metadata.
    func added(to picture: [UInt8]) -> [UInt8] {
        let parts = JPEGMarkers(picture)
        var markers = parts.markers.map { Array($0) }
        if announcesXMP { announce(in: &markers) }
        if announcesISO { markers.append(Self.iso(GainMapNumbers.version)) }
        let start = [0xff, 0xd8] + markers.joined()
        let first = start.count + MultiPictureIndex.length + parts.rest.count
        let index = MultiPictureIndex.marker(at: start.count, first: first, second: jpeg.count)
        return start + index + parts.rest + jpeg
    }

    /// Adds the promise of a gain map, and the length of the gain map's file, to the XMP. If the XMP can't be read or
    /// has no room, leaves it unchanged: the file's index still names the gain map.
    private func announce(in markers: inout [[UInt8]]) {
        let isXMP: ([UInt8]) -> Bool = { $0[1] == 0xe1 && $0.dropFirst(4).starts(with: JPEGMarkers.xmp) }
        guard let known = markers.firstIndex(where: isXMP) else {
            let place = markers.lastIndex { [0xe0, 0xe1].contains($0[1]) }.map { $0 + 1 } ?? 0
            return markers.insert(Self.marker(0xe1, JPEGMarkers.xmp + XMPPacket.packet(of: promise)) ?? [], at: place)
        }
        let packet = Array(markers[known].dropFirst(4 + JPEGMarkers.xmp.count))
        guard let announced = XMPPacket.adding(promise, to: packet),
            let marker = Self.marker(0xe1, JPEGMarkers.xmp + announced)
        else { return }
        markers[known] = marker
    }

    private var promise: String {
        func item(_ attributes: String) -> String {
            "<rdf:li rdf:parseType=\"Resource\"><Container:Item Item:Mime=\"image/jpeg\" \(attributes)/></rdf:li>"
        }
        return """
            <rdf:Description rdf:about="" xmlns:rdf="\(XMPPacket.rdf)" xmlns:hdrgm="\(GainMapNumbers.space)" \
            xmlns:Container="http://ns.google.com/photos/1.0/container/" \
            xmlns:Item="http://ns.google.com/photos/1.0/container/item/" hdrgm:Version="1.0">\
            <Container:Directory><rdf:Seq>\(item("Item:Semantic=\"Primary\""))\
            \(item("Item:Semantic=\"GainMap\" Item:Length=\"\(jpeg.count)\""))</rdf:Seq></Container:Directory>\
            </rdf:Description>
            """
    }

    private static func xmp(_ numbers: GainMapNumbers) -> [UInt8] {
        marker(0xe1, JPEGMarkers.xmp + numbers.xmp) ?? []
    }

    private static func iso(_ content: [UInt8]) -> [UInt8] { marker(0xe2, GainMapNumbers.urn + content) ?? [] }

    /// Nil when the content is too long for a marker.
    private static func marker(_ kind: UInt8, _ content: [UInt8]) -> [UInt8]? {
        let length = content.count + 2
        guard length <= Int(UInt16.max) else { return nil }
        return [0xff, kind, UInt8(length >> 8), UInt8(length & 255)] + content
    }
}
