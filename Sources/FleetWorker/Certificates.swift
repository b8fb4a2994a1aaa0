import CNats
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

    /// Why nobody accepts them, if the reason is here.
    var trouble: String? {
        for (name, text) in [("this node's certificate", certificate), ("the authority's certificate", authority)] {
            if let words = Self.trouble(text) { return "\(name) \(words)" }
        }
        return nil
    }

    private static func trouble(_ text: String) -> String? {
        let memory = text.withCString { BIO_new_mem_buf($0, -1).map { ($0, PEM_read_bio_X509($0, nil, nil, nil)) } }
        defer { if let memory { BIO_free(memory.0) } }
        guard let certificate = memory?.1 else {
            return "is no certificate; join again with the file that `init` or `add` wrote"
        }
        defer { X509_free(certificate) }
        if X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0 {
            return "has expired; begin a new fleet: `pipectl fleet init`"
        }
        if X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0 {
            return "is not good yet; look at the clock of this machine"
        }
        return nil
    }
}
