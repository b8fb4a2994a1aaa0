import Foundation
import PipelineModel

extension Picture {
    private static let ratingSpace = "http://ns.adobe.com/xap/1.0/"
    private static let subjectSpace = "http://purl.org/dc/elements/1.1/"

    /// Facts for conditions, from EXIF, XMP and IPTC. XMP's rating takes precedence, because many programs change only
    /// XMP's rating, not EXIF's.
    func facts(format: String, pages: Int) -> PictureFacts {
        let isTurned = orientation >= 5
        var facts = PictureFacts(
            format: format, width: isTurned ? height : width, height: isTurned ? width : height, pages: pages)
        if let exif {
            facts.rating = exif.number(0x4746, in: exif.main)
            facts.iso = exif.number(0x8827, in: exif.photo)
            facts.lens = EXIF.text(0xa434, in: exif.photo)?.cut
            let (make, model) = (EXIF.text(0x010f, in: exif.main), EXIF.text(0x0110, in: exif.main))
            // Many makers begin the model with their name.
            let isNamed = make.map { model?.lowercased().hasPrefix($0.lowercased()) ?? false } ?? true
            facts.camera = [isNamed ? nil : make, model].compactMap(\.self).joined(separator: " ").cut
            facts.date = exif.date
        }
        let properties = blob("xmp-data").map { packet in
            XMPPacket.texts(packet) { name in
                name.space == Self.ratingSpace && ["Rating", "Label"].contains(name.local)
                    || name.space == Self.subjectSpace && name.local == "subject"
            }
        }
        for (name, text) in properties ?? [] {
            switch name.local {
            case "Rating": facts.rating = Int(text) ?? facts.rating
            case "Label": facts.label = text.cut
            default: if facts.keywords.count < PictureFacts.mostKeywords { facts.keywords.append(text.cut) }
            }
        }
        if let stored = blob("iptc-data") {
            let list = PhotoshopResources(stored)?.iptc ?? stored
            for keyword in IPTC.texts(25, in: list).prefix(PictureFacts.mostKeywords) {
                if !facts.keywords.contains(keyword.cut) { facts.keywords.append(keyword.cut) }
            }
        }
        facts.keywords = Array(facts.keywords.prefix(PictureFacts.mostKeywords))
        if facts.camera?.isEmpty == true { facts.camera = nil }
        return facts
    }
}

extension EXIF {
    /// The first value of a tag that contains 16-bit or 32-bit integers; nil if there is no such tag.
    fileprivate func number(_ tag: Int, in entries: [Entry]) -> Int? {
        guard let entry = entries.first(where: { $0.tag == tag }), case .bytes(let bytes) = entry.value else {
            return nil
        }
        switch (entry.type, bytes.count) {
        case (3, 2...): return form.number(bytes[..<2])
        case (4, 4...): return form.number(bytes[..<4])
        default: return nil
        }
    }
}

extension String {
    fileprivate var cut: String { String(prefix(PictureFacts.longestText)) }
}
