import SystemCalls

/// An HTTP request. Its body is added while it arrives.
struct HTTPRequest: Sendable {
    struct Header: Sendable, Equatable {
        var name: String
        var value: String

        /// Whether the name is a token and the value has no control characters (RFC 9110, 5.1 and 5.5).
        var isPlain: Bool {
            !name.isEmpty && name.utf8.allSatisfy(\.isOfToken)
                && value.utf8.allSatisfy { $0 == 0x09 || (0x20...0xff).contains($0) && $0 != 0x7f }
        }
    }

    enum Body: Sendable {
        case bytes([UInt8])
        case file(Descriptor)
    }

    var method: String
    /// The path before the question mark.
    var path: String
    /// The parameters after the question mark.
    var query: [String: String] = [:]
    var version: String
    var headers: [Header]
    /// Whether each line of the head ends with CRLF, and no line continues the previous line.
    var hasPlainLines = true
    var body = Body.bytes([])

    /// The values of all headers with this name. Pass the name in lower case.
    func values(_ name: String) -> [String] {
        headers.filter { $0.name.lowercased() == name }.map(\.value)
    }

    var isReading: Bool { method == "GET" || method == "HEAD" }

    /// Whether a person reads the answer in a browser.
    var acceptsPages: Bool { values("accept").contains { $0.contains("text/html") } }

    var bytes: [UInt8] {
        if case .bytes(let bytes) = body { bytes } else { [] }
    }

    var file: Descriptor? {
        if case .file(let file) = body { file } else { nil }
    }

    /// Length of the body according to Content-Length; nil if that header is missing, repeated or not a number.
    var length: Int? {
        let texts = values("content-length")
        guard texts.count == 1, !texts[0].isEmpty, texts[0].utf8.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        return Int(texts[0])
    }

    /// The answer that refuses a malformed or ambiguous request, regardless of its path; nil for a good request.
    ///
    /// If a request has two lengths or two hosts, libmicrohttpd picks one, and a proxy in front may pick the other. The
    /// two programs would then see different requests in the same bytes (request smuggling).
    var refusal: HTTPAnswer? {
        guard hasPlainLines else {
            return .failure(400, "each header is one line, which ends with CRLF")
        }
        for header in headers where !header.isPlain {
            return .failure(400, "this is not a header: \(header.name.prefix(40).debugDescription)")
        }
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            return .failure(505, "this is not HTTP/1.1: \(version)")
        }
        let hosts = values("host")
        guard hosts.count == 1 || (hosts.isEmpty && version == "HTTP/1.0") else {
            return .failure(400, "a request has one Host header; this one has \(hosts.count)")
        }
        let (lengths, codings) = (values("content-length"), values("transfer-encoding"))
        guard lengths.count + codings.count <= 1 else {
            return .failure(
                400, "a request states its length once; this one states it \(lengths.count + codings.count) times")
        }
        guard codings.isEmpty else { return .failure(411, "a request needs a Content-Length") }
        guard lengths.isEmpty || length != nil else {
            return .failure(400, "Content-Length is a number of bytes, not '\(lengths[0].prefix(40))'")
        }
        return nil
    }

    /// The answer that refuses a request whose body is too long; nil if the length is allowed.
    func refusal(longestBody: Int) -> HTTPAnswer? {
        guard let length, length > longestBody else { return nil }
        let limit = "a request for \(path.prefix(80)) has at most \(longestBody) bytes"
        return .failure(413, "\(limit); this one has \(length)")
    }
}
