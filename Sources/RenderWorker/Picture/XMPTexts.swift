/// Two texts of XMP: dc:description and photoshop:Credit.
struct XMPTexts {
    private static let dublinCore = "http://purl.org/dc/elements/1.1/"
    private static let photoshop = "http://ns.adobe.com/photoshop/1.0/"

    var description: String?
    var credit: String?

    init(description: String?, credit: String?) { (self.description, self.credit) = (description, credit) }

    /// The texts of a packet. If the description has several languages, takes the first, which should be the default.
    init(of packet: [UInt8]) {
        description = XMPPacket.texts(of: .init(space: Self.dublinCore, local: "description"), in: packet)?.first
        credit = XMPPacket.texts(of: .init(space: Self.photoshop, local: "Credit"), in: packet)?.first
    }

    /// A packet with these texts alone.
    var packet: [UInt8] { XMPPacket.packet(of: element) }

    /// Returns a copy of `packet` in which these texts replace the packet's own description and credit. Nil if `packet`
    /// is not well-formed XMP.
    func added(to packet: [UInt8]) -> [UInt8]? {
        let cut = XMPPacket.cut(packet) { name in
            description != nil && name.space == Self.dublinCore && name.local == "description"
                || credit != nil && name.space == Self.photoshop && name.local == "Credit"
        }
        return cut.flatMap { XMPPacket.adding(element, to: $0) }
    }

    /// The element with the texts. The element declares its own namespaces, because the packet may lack these
    /// namespaces, or use other prefixes for them.
    private var element: String {
        let credit = credit.map { " photoshop:Credit=\"\(Self.escaped($0))\"" } ?? ""
        let description =
            description.map {
                """
                <dc:description><rdf:Alt><rdf:li xml:lang="x-default">\(Self.escaped($0))</rdf:li></rdf:Alt>\
                </dc:description>
                """
            } ?? ""
        return """
            <rdf:Description rdf:about="" xmlns:rdf="\(XMPPacket.rdf)" xmlns:dc="\(Self.dublinCore)" \
            xmlns:photoshop="\(Self.photoshop)"\(credit)>\(description)</rdf:Description>
            """
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
