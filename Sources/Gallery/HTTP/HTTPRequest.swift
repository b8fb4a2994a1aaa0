/// A request as its headers say it.
struct HTTPRequest: Sendable {
    struct Header: Sendable, Equatable {
        var name: String
        var value: String
    }

    var method: String
    /// Without what follows a question mark.
    var path: String
    var version: String
    var headers: [Header]

    /// The values of the headers of a name, which is given in small letters.
    func values(_ name: String) -> [String] {
        headers.filter { $0.name.lowercased() == name }.map(\.value)
    }

    var isHead: Bool { method == "HEAD" }

    /// Why the request is refused before anything of its body is read.
    ///
    /// libmicrohttpd takes a request with two lengths, or two hosts, by one of them. A proxy in front may take the other,
    /// and then both see different requests in the same bytes.
    func refusal(longestBody: Int) -> HTTPAnswer? {
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            return .text(505, "this is not HTTP/1.1: \(version)")
        }
        let hosts = values("host")
        guard hosts.count == 1 || (hosts.isEmpty && version == "HTTP/1.0") else {
            return .text(400, "a request has one Host header; this one has \(hosts.count)")
        }
        let (lengths, codings) = (values("content-length"), values("transfer-encoding"))
        guard lengths.count + codings.count <= 1 else {
            return .text(
                400, "a request says once how long it is; this one does so \(lengths.count + codings.count) times")
        }
        guard codings.isEmpty else { return .text(411, "a request says how long it is in Content-Length") }
        guard let text = lengths.first else { return nil }
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }), let length = Int(text) else {
            return .text(400, "Content-Length is a number of bytes, not '\(text.prefix(40))'")
        }
        return length <= longestBody
            ? nil
            : .text(413, "a request for \(path.prefix(80)) has at most \(longestBody) bytes; this one has \(length)")
    }
}
