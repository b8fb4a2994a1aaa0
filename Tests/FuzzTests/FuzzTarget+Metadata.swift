@testable import RenderWorker

/// Metadata in pictures.
extension FuzzTarget {
    static let metadata: [FuzzTarget] = [exif, xmp, iptc, photoshop, profiles]

    private static let exif = FuzzTarget("exif") { bytes in
        _ = EXIF.isAdobeRGB(bytes)
        precondition(EXIF.declaringSRGB(bytes).count == bytes.count, "a block becomes longer")
        precondition(EXIF.sized(bytes, 1600, 1200).count == bytes.count, "a block becomes longer")
        guard let exif = EXIF(block: bytes) else { return }
        _ = (exif.date, exif.copyright?.block, exif.sized(1600, 1200).block)
        // A classic EXIF block has room only for small metadata, so only small metadata can be written and read again.
        let all = [exif.main, exif.photo, exif.place, exif.exchange]
        let isSmall = all.allSatisfy { $0.count < 1000 }
        guard isSmall, !exif.form.isBig else { return }
        let again = EXIF(block: exif.block)
        precondition(
            again?.block == exif.block || again == nil && all.allSatisfy(\.isEmpty),
            "a block changes when it is read again")
        let hidden = EXIF(block: exif.withoutPlace.block)
        precondition(hidden?.place.isEmpty ?? true, "a place is left")
    }

    private static let xmp = FuzzTarget(
        "xmp",
        words: [
            "<rdf:Description ", "xmlns:exif=\"", "exif:GPSLatitude=\"", "<!--", "-->", "<![CDATA[", "]]>", "<?", "?>",
            "/>",
            "</", "http://ns.adobe.com/hdr-gain-map/1.0/", "http://ns.google.com/photos/1.0/container/", "City",
        ]
    ) { bytes in
        let isUnwanted: (XMPPacket.Name) -> Bool = { AttachedPart.isPromised(by: $0) || PlaceName.matches($0) }
        _ = AttachedPart.mayBePromised(in: bytes)
        guard let cut = XMPPacket.cut(bytes, where: isUnwanted) else { return }
        // The packet may have no element left, so it is wrapped in an element `x` before it is read again.
        let left = Array("<x>".utf8) + cut + Array("</x>".utf8)
        precondition(XMPPacket.cut(left, where: isUnwanted) == left, "something unwanted is left")
        let texts = XMPTexts(description: "<a> & b", credit: "\"c\"")
        guard let added = texts.added(to: bytes) else { return }
        let wrapped = Array("<x>".utf8) + added + Array("</x>".utf8)
        precondition(XMPPacket.cut(wrapped) { _ in false } == wrapped, "texts make a packet unreadable")
    }

    private static let iptc = FuzzTarget("iptc") { bytes in
        let left = IPTC.withoutPlace(bytes)
        precondition(left.isEmpty || IPTC.isList(left), "a list is no list any more")
        precondition(IPTC.withoutPlace(left) == left, "a place is left")
        if !left.isEmpty { precondition(PhotoshopResources(iptc: left).iptc == left, "a list changes in its block") }
        let said = IPTC.setting([120: "a caption", 110: "a credit"], in: bytes)
        precondition(
            IPTC.setting([120: "a caption", 110: "a credit"], in: said) == said, "a list changes with the same texts")
    }

    private static let photoshop = FuzzTarget("photoshop", words: ["8BIM\u{4}\u{4}", "Photoshop 3.0\0"]) { bytes in
        guard let resources = PhotoshopResources(bytes) else { return }
        _ = (resources.iptc, resources.withoutIPTC, resources.withoutDigest)
        let iptc: [UInt8] = [0x1c, 2, 120, 0, 1, 0x61]
        precondition(resources.with(iptc: iptc).iptc == iptc, "IPTC is not what was set")
        precondition(
            resources.bytes.isEmpty || PhotoshopResources(resources.bytes)?.bytes == resources.bytes, "a list changes")
        let hidden = resources.withoutPlace.bytes
        precondition(
            hidden.isEmpty || PhotoshopResources(hidden)?.withoutPlace.bytes == hidden, "a place is left")
    }

    private static let profiles = FuzzTarget(
        "profiles", words: ["acsp", "RGB ", "desc", "mluc", "rXYZ", "rTRC", "para", "curv"]
    ) {
        bytes in
        guard let profile = ICCProfile(bytes) else { return }
        _ = (profile.name, profile.space, profile.isOfDevice, profile.intent, profile.isSRGB)
    }
}
