import PipelineModel

/// Caption and credit from the download list that named the picture. Adds both as XMP. If the result is a JPEG or TIFF,
/// also adds both as IPTC.
struct Caption {
    private let caption: String?
    private let credit: String?

    init(_ stage: Stage) {
        (caption, credit) = (stage.arguments["caption"]?.text, stage.arguments["credit"]?.text)
    }

    /// Replaces the caption and credit of `result`, whose metadata is already arranged for `format`.
    func add(to result: Picture, for format: String) {
        guard caption != nil || credit != nil else { return }
        addXMP(to: result)
        if format == "jpeg" || format == "tiff" { addIPTC(to: result, for: format) }
    }

    private func addXMP(to result: Picture) {
        let texts = XMPTexts(description: caption, credit: credit)
        let earlier = result.blob("xmp-data")
        let packet = earlier.flatMap { texts.added(to: $0) }
        if earlier != nil, packet == nil { result.setDropped(result.dropped + ["XMP that can't be read"]) }
        result.setBlob("xmp-data", packet ?? texts.packet)
    }

    private func addIPTC(to result: Picture, for format: String) {
        // IPTC limits the lengths, so shorten the texts. Readers that notice a shortened text use XMP, which has the
        // whole text.
        let texts = [(UInt8(120), caption, 2000), (110, credit, 32)].compactMap { number, text, most in
            text.map { (number, $0.cut(toBytes: most)) }
        }
        let stored = result.blob("iptc-data") ?? []
        let resources = PhotoshopResources(stored)
        let list = IPTC.setting(
            Dictionary(uniqueKeysWithValues: texts), in: resources?.iptc ?? (IPTC.isList(stored) ? stored : []))
        if format == "jpeg" {
            let whole = resources?.with(iptc: list) ?? PhotoshopResources(iptc: list)
            result.setBlob("iptc-data", PhotoshopResources.prefix + whole.bytes)
        } else {
            // libvips writes IPTC to a TIFF as four-byte numbers, so pad the list to a multiple of four.
            result.setBlob("iptc-data", list + [UInt8](repeating: 0, count: (4 - list.count % 4) % 4))
            if let beside = result.blob("photoshop-data").flatMap(PhotoshopResources.init) {
                result.replace("photoshop-data", with: beside.withoutDigest.bytes)
            }
        }
    }
}

extension String {
    /// Returns the longest prefix of whole characters that has at most `most` bytes.
    func cut(toBytes most: Int) -> String {
        var cut = self[...]
        while cut.utf8.count > most { cut.removeLast() }
        return String(cut)
    }
}
