/// An http or https URL to download, checked as far as possible without network access. The fetch worker parses the URL
/// again, more strictly where needed, and checks the IP address to which the host resolves.
public struct WebAddress: Sendable, Hashable, CustomStringConvertible {
    /// Maximum length in bytes. Servers commonly reject longer URLs.
    public static let longest = 8000

    public let text: String

    public init(_ text: some StringProtocol) throws(Refusal) {
        guard text.utf8.count <= Self.longest else {
            throw Refusal("has \(text.utf8.count) bytes", advice: "a URL may have \(Self.longest)")
        }
        let scheme = text.prefix { $0 != ":" }.lowercased()
        guard ["http", "https"].contains(scheme), text.dropFirst(scheme.count).hasPrefix("://") else {
            throw Refusal("is not an http or https URL", advice: "a URL begins with https://")
        }
        guard text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7f && !$0.properties.isWhitespace })
        else { throw Refusal("has a space or a control character in it", advice: "write %20 for a space") }
        self.text = String(text)
        guard !host.isEmpty else { throw Refusal("names no host") }
    }

    public var description: String { shown }

    private var afterScheme: Substring { text.drop { $0 != ":" }.dropFirst(3) }

    var isSecure: Bool { text.prefix(8).lowercased() == "https://" }

    /// Host and port, in lower case. Downloads from different servers take turns.
    public var server: String {
        let ends = "/?#\\".utf8
        // Works on bytes for speed: a list has many URLs.
        let authority = afterScheme.utf8.prefix { !ends.contains($0) }
        let server = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[authority.index(after: $0)...] }
        return String(decoding: server ?? authority, as: UTF8.self).lowercased()
    }

    /// The host, for file names and messages only. It does not decide to which host a connection is made.
    var host: String {
        let server = server
        return String(server.hasPrefix("[") ? server.prefix { $0 != "]" } : server.prefix { $0 != ":" })
    }

    /// The last component of the path, percent-decoded.
    var lastPart: String {
        let (slash, backslash) = (UInt8(ascii: "/"), UInt8(ascii: "\\"))
        // Works on bytes for speed: a list has many URLs.
        let path = afterScheme.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
            .drop { $0 != slash && $0 != backslash }
        let last = path.split(separator: slash, omittingEmptySubsequences: false).last.map(Array.init) ?? []
        guard last.contains(UInt8(ascii: "=")) else { return Self.decoded(last) }
        return Self.decoded(Array(Self.shown("/" + String(decoding: last, as: UTF8.self)).utf8.dropFirst()))
    }

    static func decoded(_ text: [UInt8]) -> String {
        var bytes: [UInt8] = []
        var rest = text[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
