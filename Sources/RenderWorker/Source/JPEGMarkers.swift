/// The application and comment markers at the start of a JPEG. In a JPEG that libvips wrote, these markers contain all
/// metadata.
struct JPEGMarkers {
    private(set) var markers: [ArraySlice<UInt8>] = []
    /// The bytes after the markers.
    let rest: ArraySlice<UInt8>

    init(_ jpeg: [UInt8]) {
        var at = 2
        while at + 4 <= jpeg.count, jpeg[at] == 0xff, (0xe0...0xef).contains(jpeg[at + 1]) || jpeg[at + 1] == 0xfe {
            let end = at + 2 + Int(jpeg[at + 2]) << 8 + Int(jpeg[at + 3])
            guard end <= jpeg.count else { break }
            markers.append(jpeg[at..<end])
            at = end
        }
        rest = jpeg.dropFirst(at)
    }

    /// Whether a marker holds this metadata field.
    func has(_ field: String) -> Bool {
        guard let (kind, prefix) = Self.fields[field] else { return false }
        return !all(kind, prefix).isEmpty
    }

    /// The content of the first marker of this kind with this prefix, without the prefix.
    func content(_ kind: UInt8, _ prefix: [UInt8]) -> ArraySlice<UInt8>? {
        all(kind, prefix).first?.dropFirst(4 + prefix.count)
    }

    /// All markers of this kind with this prefix. Each marker is whole: its kind and its length precede the prefix.
    func all(_ kind: UInt8, _ prefix: [UInt8]) -> [ArraySlice<UInt8>] {
        markers.filter { $0.dropFirst().first == kind && $0.dropFirst(4).starts(with: prefix) }
    }

    static let xmp = Array("http://ns.adobe.com/xap/1.0/\0".utf8)

    private static let fields: [String: (kind: UInt8, prefix: [UInt8])] = [
        "exif-data": (0xe1, EXIF.prefix), "xmp-data": (0xe1, xmp),
        "iptc-data": (0xed, Array("Photo".utf8)),
    ]
}
