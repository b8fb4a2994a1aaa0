import Foundation

/// Finds, adds and removes properties of an XMP packet. Removes comments, and keeps all other bytes unchanged.
struct XMPPacket {
    /// The name of an element or an attribute.
    struct Name: Equatable {
        /// The namespace's URI.
        var space: String
        var local: String
    }

    private struct Element {
        var name: ArraySlice<UInt8>
        /// Number of namespaces that are declared outside the element. Only these remain declared after its end tag.
        var spaces: Int
        /// The element's offset if the element will be cut out; otherwise nil.
        var cut: Int?
    }

    private struct Attribute {
        var name: ArraySlice<UInt8>
        var value: Range<Int>
        /// Range of the attribute, including the white space before it.
        var whole: Range<Int>
    }

    /// Limit on namespaces, because each name is looked up among them. Real packets declare a dozen.
    private static let mostSpaces = 256

    private let bytes: [UInt8]
    private let isUnwanted: (Name) -> Bool
    private var at = 0
    private var spaces: [(prefix: ArraySlice<UInt8>, uri: String)] = []
    private var open: [Element] = []
    private var cuts: [Range<Int>] = []
    /// Whether the scan is inside an element that will be cut out.
    private var isWithinCut = false

    /// The packet without the unwanted properties, and without comments. Nil when the packet is not well-formed XML in
    /// UTF-8. Also nil when it declares entities of its own, because another reader might expand them differently.
    static func cut(_ bytes: [UInt8], where isUnwanted: @escaping (Name) -> Bool) -> [UInt8]? {
        var packet = XMPPacket(bytes: bytes, isUnwanted: isUnwanted)
        guard packet.scan() else { return nil }
        var (result, at) = ([UInt8](), 0)
        for cut in packet.cuts {
            result += bytes[at..<cut.lowerBound]
            at = cut.upperBound
        }
        return result + bytes[at...]
    }

    /// The texts of the wanted properties, in the order of the packet. Empty if the packet is not well-formed (see
    /// `cut`).
    static func texts(_ bytes: [UInt8], of isWanted: @escaping (Name) -> Bool) -> [(name: Name, text: String)] {
        var names: [Name] = []
        var packet = XMPPacket(bytes: bytes) { name in
            guard isWanted(name) else { return false }
            names.append(name)
            return true
        }
        guard packet.scan() else { return [] }
        let properties = packet.cuts.map { bytes[$0] }.filter { !$0.starts(with: "<!--".utf8) }
        return zip(names, properties).flatMap { name, property in texts(of: property).map { (name, $0) } }
    }

    /// The value of an attribute, or the texts between the tags of an element.
    private static func texts(of property: ArraySlice<UInt8>) -> [String] {
        guard property.first == UInt8(ascii: "<") else {
            return property.split(separator: property.last ?? 0, maxSplits: 1).dropFirst().map { text($0.dropLast()) }
        }
        return property.split(separator: UInt8(ascii: "<")).compactMap { piece in
            let text = text(piece.drop { $0 != UInt8(ascii: ">") }.dropFirst()).trimmingCharacters(
                in: .whitespacesAndNewlines)
            return text.isEmpty ? nil : text
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        let named = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.contains("&") else { return text }
        return text.replacing(/&(?:#(\d{1,7})|#x([0-9A-Fa-f]{1,6})|([a-z]+));/) { match in
            let number = match.1.flatMap { UInt32($0) } ?? match.2.flatMap { UInt32($0, radix: 16) }
            let character = number.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
            return character ?? match.3.flatMap { named[String($0)] } ?? String(match.0)
        }
    }

    /// The texts of one property; nil if the packet is not well-formed, or has no such property.
    static func texts(of property: Name, in bytes: [UInt8]) -> [String]? {
        let texts = texts(bytes) { $0 == property }.map(\.text)
        return texts.isEmpty ? nil : texts
    }

    /// The packet with one more element at the end of its `rdf:RDF`; nil when the packet is not well-formed XMP. The
    /// element must declare its namespaces itself, because the packet may lack these namespaces, or use other prefixes
    /// for them.
    static func adding(_ element: String, to packet: [UInt8]) -> [UInt8]? {
        // Remove comments first, because a comment could contain text that looks like the end tag.
        guard let packet = cut(packet, where: { _ in false }), let end = end(of: packet) else { return nil }
        return packet[..<end] + Array(element.utf8) + packet[end...]
    }

    /// A packet with one element.
    static func packet(of element: String) -> [UInt8] {
        Array(
            """
            <?xpacket begin="\u{feff}" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="\(meta)">\
            <rdf:RDF xmlns:rdf="\(rdf)">\(element)</rdf:RDF></x:xmpmeta><?xpacket end="w"?>
            """.utf8)
    }

    static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    /// The namespace of the packet's root.
    static let meta = "adobe:ns:meta/"

    /// The offset of the last end tag of `rdf:RDF`, whatever namespace prefix the tag has.
    private static func end(of packet: [UInt8]) -> Int? {
        var rest = packet[...]
        while let at = rest.lastIndex(of: UInt8(ascii: "<")) {
            let tag = rest[at...].prefix { $0 != UInt8(ascii: ">") }
            if tag.starts(with: "</".utf8) {
                let name = tag.dropFirst(2).prefix { $0 > 32 }.split(separator: UInt8(ascii: ":"))
                if name.last?.elementsEqual("RDF".utf8) == true { return at }
            }
            rest = rest[..<at]
        }
        return nil
    }

    private init(bytes: [UInt8], isUnwanted: @escaping (Name) -> Bool) {
        (self.bytes, self.isUnwanted) = (bytes, isUnwanted)
    }

    private mutating func scan() -> Bool {
        guard !bytes.contains(0) else { return false }
        var hasElements = false
        while let start = bytes[at...].firstIndex(of: UInt8(ascii: "<")) {
            at = start
            if bytes[at...].starts(with: "<?".utf8) {
                guard skip(past: "?>") else { return false }
            } else if bytes[at...].starts(with: "<!--".utf8) {
                guard skip(past: "-->") else { return false }
                if !isWithinCut { cuts.append(start..<at) }
            } else if bytes[at...].starts(with: "<![CDATA[".utf8) {
                guard skip(past: "]]>") else { return false }
            } else if bytes[at...].starts(with: "<!".utf8) {
                return false
            } else if bytes[at...].starts(with: "</".utf8) {
                guard close() else { return false }
            } else {
                guard element() else { return false }
                hasElements = true
            }
        }
        return hasElements && open.isEmpty
    }

    private mutating func skip(past text: String) -> Bool {
        guard let end = bytes.end(of: text, from: at) else { return false }
        at = end
        return true
    }

    private mutating func close() -> Bool {
        at += 2
        let name = word()
        skipSpace()
        guard take(">"), let element = open.popLast(), element.name == name else { return false }
        end(element)
        return true
    }

    private mutating func end(_ element: Element) {
        spaces.removeLast(spaces.count - element.spaces)
        guard let start = element.cut else { return }
        cuts.append(start..<at)
        isWithinCut = false
    }

    private mutating func element() -> Bool {
        let start = at
        at += 1
        let name = word()
        guard !name.isEmpty else { return false }
        var element = Element(name: name, spaces: spaces.count)
        var attributes: [Attribute] = []
        while let attribute = attribute() {
            if let prefix = Self.declared(attribute.name) {
                spaces.append((prefix, String(decoding: bytes[attribute.value], as: UTF8.self)))
                guard spaces.count <= Self.mostSpaces else { return false }
            }
            attributes.append(attribute)
        }
        skipSpace()
        let isEmpty = take("/")
        guard take(">") else { return false }
        if !isWithinCut {
            if isUnwanted(self.name(name)) {
                element.cut = start
                isWithinCut = true
            } else {
                cuts += attributes.filter { isUnwanted(self.name($0.name)) }.map(\.whole)
            }
        }
        if isEmpty { end(element) } else { open.append(element) }
        return true
    }

    /// Reads the next attribute. If no attribute follows, returns nil and does not move.
    private mutating func attribute() -> Attribute? {
        let start = at
        var isRead = false
        defer { if !isRead { at = start } }
        skipSpace()
        // Require white space between attributes: otherwise, cutting out an attribute would join the next attribute to
        // the name before it.
        guard at > start else { return nil }
        let name = word()
        skipSpace()
        guard !name.isEmpty, take("=") else { return nil }
        skipSpace()
        guard let quote = at < bytes.count ? bytes[at] : nil, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
            let end = bytes[(at + 1)...].firstIndex(of: quote)
        else { return nil }
        let value = at + 1..<end
        at = end + 1
        isRead = true
        return Attribute(name: name, value: value, whole: start..<at)
    }

    /// Splits a name into namespace and local part. For a namespace declaration, the local part is empty.
    private func name(_ whole: ArraySlice<UInt8>) -> Name {
        if let prefix = Self.declared(whole) { return Name(space: uri(of: prefix), local: "") }
        let parts = whole.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        let prefix = parts.count == 2 ? parts[0] : []
        return Name(space: uri(of: prefix), local: String(decoding: parts.last ?? [], as: UTF8.self))
    }

    private func uri(of prefix: ArraySlice<UInt8>) -> String { spaces.last { $0.prefix == prefix }?.uri ?? "" }

    /// The prefix that a namespace declaration defines; nil for other attributes.
    private static func declared(_ attribute: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let (plain, prefixed) = (Array("xmlns".utf8), Array("xmlns:".utf8))
        if attribute.elementsEqual(plain) { return [] }
        return attribute.starts(with: prefixed) ? attribute.dropFirst(prefixed.count) : nil
    }

    private mutating func word() -> ArraySlice<UInt8> {
        let start = at
        while at < bytes.count, !Self.ends.contains(bytes[at]) { at += 1 }
        return bytes[start..<at]
    }

    private mutating func skipSpace() {
        while at < bytes.count, Self.space.contains(bytes[at]) { at += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard at < bytes.count, bytes[at] == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    private static let space = Array(" \t\r\n".utf8)
    private static let ends = space + Array("<>/=\"'".utf8)
}
