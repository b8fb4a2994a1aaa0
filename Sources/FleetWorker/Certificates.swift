import SystemCalls

/// The files by which this node and the servers know each other, as text.
struct Certificates: Sendable {
    var certificate: String
    var key: String
    var authority: String

    private static let longest = 256 << 10

    /// Nil when none came: the servers ask for none.
    init?(_ files: [Descriptor]) throws(SystemError) {
        guard files.count == 3 else { return nil }
        var texts: [String] = []
        for file in files { texts.append(String(decoding: try file.piece(at: 0, Self.longest), as: UTF8.self)) }
        (certificate, key, authority) = (texts[0], texts[1], texts[2])
    }
}
