import PipelineModel

/// Caption and credit of a picture, from the download list that named the picture, or else from its metadata.
struct PictureWords: Sendable {
    private(set) var caption: String?
    private(set) var credit: String?

    init() {}

    /// `save` is the last stage of the chain. Its arguments may include the caption and credit from a download list.
    init(of picture: Picture, before save: Stage?) {
        let xmp = picture.blob("xmp-data").map(XMPTexts.init(of:))
        let stored = picture.blob("iptc-data") ?? []
        let iptc = PhotoshopResources(stored)?.iptc ?? stored
        let main = picture.exif?.main ?? []
        func first(_ texts: String?...) -> String? {
            texts.lazy.compactMap { Self.printable($0 ?? "") }.first
        }
        caption = first(
            save?.arguments["caption"]?.text, xmp?.description, IPTC.text(120, in: iptc), EXIF.text(0x010e, in: main))
        credit = first(
            save?.arguments["credit"]?.text, xmp?.credit, IPTC.text(110, in: iptc), EXIF.text(0x013b, in: main),
            EXIF.text(0x8298, in: main))
    }

    /// Removes control characters except line breaks, and shortens the text. Nil if only white space is left.
    private static func printable(_ text: String) -> String? {
        let scalars = text.replacing("\r\n", with: "\n").unicodeScalars.filter {
            $0 == "\n" || $0.properties.generalCategory != .control
        }
        let text = String(String.UnicodeScalarView(scalars)).cut(toBytes: 2000)
        return text.contains { !$0.isWhitespace } ? text : nil
    }
}
