/// The properties of XMP and IPTC that `metadata=copyright` keeps: who made and owns the picture, whom to credit, and
/// the kind of its source (IPTC's digital source type).
enum OriginMarks {
    /// Data sets of IPTC's record 2: version, by-line and its title, credit, source, and copyright.
    static let iptc: Set<UInt8> = [0, 80, 85, 110, 115, 116]

    /// The packet with only the properties in `marks`. Empty if the packet has none of them; nil if it can't be read.
    static func xmp(_ packet: [UInt8]) -> [UInt8]? {
        let found = Found()
        let kept = XMPPacket.cut(packet) { name in
            if isMark(name) {
                found.isFound = true
                return false
            }
            return !isStructure(name)
        }
        return kept.map { found.isFound ? $0 : [] }
    }

    private final class Found {
        var isFound = false
    }

    /// Prefixes of the properties' names, by namespace. For example, `Licensor` also matches `LicensorName`.
    private static let marks = [
        "http://purl.org/dc/elements/1.1/": ["creator", "rights"],
        "http://ns.adobe.com/photoshop/1.0/": ["Credit", "Source", "AuthorsPosition"],
        "http://iptc.org/std/Iptc4xmpExt/2008-02-29/": ["DigitalSourceType"],
        "http://ns.adobe.com/xap/1.0/rights/": ["Marked", "Owner", "UsageTerms", "WebStatement"],
        "http://ns.useplus.org/ldf/xmp/1.0/": [
            "CopyrightOwner", "CreditLine", "DataMining", "ImageCreator", "ImageSupplier", "Licensor",
        ],
    ]

    private static func isMark(_ name: XMPPacket.Name) -> Bool {
        !name.local.isEmpty && marks[name.space]?.contains { name.local.hasPrefix($0) } == true
    }

    /// Whether the name belongs to XMP's structure around the properties, or declares a namespace of these properties.
    private static func isStructure(_ name: XMPPacket.Name) -> Bool {
        let isDeclaration = name.local.isEmpty && marks[name.space] != nil
        // The prefix `xml` needs no declaration.
        let isLanguage = name.space.isEmpty && name.local == "lang"
        return isDeclaration || isLanguage || [XMPPacket.rdf, XMPPacket.meta].contains(name.space)
    }
}
