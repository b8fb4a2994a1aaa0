import PipelineModel

/// The fields of a response's header that the worker needs. Each response, even an interim response, resets the fields.
struct AnswerHeader {
    private(set) var status = 0
    /// Whether the header of the final (not interim) response is complete.
    private(set) var isWhole = false
    private(set) var name: String?
    /// The entity tag, strong or weak.
    private(set) var tag: String?
    /// The value of Last-Modified.
    private(set) var modified: String?
    private var date: String?
    private(set) var refusesRanges = false
    private(set) var isEncoded = false
    /// Whether Transfer-Encoding names an encoding other than `chunked`. Servers may use such an encoding only on
    /// request.
    private(set) var isTransferEncoded = false
    /// Whether the body consists of several parts, separated by boundaries.
    private(set) var isMultipart = false
    /// The byte range that a partial response contains.
    private(set) var range: ContentRange?

    /// The validator that a later request may send in If-Range (RFC 9110, 13.1.5): a strong entity tag or, without a
    /// tag, the date in Last-Modified. The date is used only if the file was at least `leastAge` old by the server's
    /// clock: a younger file may change again within the same second, and keep its date.
    var validator: String? {
        if let tag { return Self.isStrong(tag) ? tag : nil }
        guard let modified, let changed = Curl.seconds(ofDate: modified), let now = date.flatMap(Curl.seconds(ofDate:)),
            now - changed >= Self.leastAge
        else { return nil }
        return modified
    }

    /// The minimum age in seconds. A minute suffices even if Last-Modified and Date come from different clocks.
    private static let leastAge = 60

    private static func isStrong(_ tag: String) -> Bool { tag.hasPrefix("\"") }

    /// If the partial response continues the file of `resume` (RFC 9110, 15.3.7.3), returns the end of the range and
    /// the total size. Returns nil if the response may belong to another file. A partial response must repeat the
    /// entity tag of the first response, but may omit the date. `length` is the value of Content-Length.
    func continuation(of resume: FetchResume, length: Int64?) -> (end: Int64, total: Int64)? {
        guard status == 206, !isEncoded, !isMultipart, let range, range.first == resume.offset,
            tag == (Self.isStrong(resume.validator) ? resume.validator : nil),
            modified == nil || resume.modified == nil || modified == resume.modified,
            let total = range.total ?? resume.total, total == resume.total ?? total, range.last < total,
            length == nil || length == range.last - range.first + 1
        else { return nil }
        return (range.last + 1, total)
    }

    /// Reads one line of the header, including its line break.
    mutating func read(_ line: UnsafeRawBufferPointer) {
        let text = String(decoding: line.prefix { $0 != 10 && $0 != 13 }, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            self = AnswerHeader()
            status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            return
        }
        guard !isWhole else { return }
        guard !text.isEmpty else {
            isWhole = status >= 200
            return
        }
        guard let colon = text.firstIndex(of: ":") else { return }
        let value = text[text.index(after: colon)...].trimmingSpaces
        switch text[..<colon].lowercased() {
        case "content-disposition": name = ContentDisposition.fileName(value)
        // A tag that can't be sent back safely counts as a weak tag, which validates nothing.
        case "etag": tag = value.isSafe ? value : "W/"
        case "last-modified": modified = value.isSafe ? value : nil
        case "date": date = value
        case "accept-ranges": refusesRanges = value.lowercased() == "none"
        case "content-encoding": isEncoded = value.lowercased() != "identity"
        case "transfer-encoding":
            let encodings = value.split(separator: ",").map { $0.trimmingSpaces.lowercased() }
            isTransferEncoded = isTransferEncoded || !Set(encodings).isSubset(of: ["chunked", "identity"])
        case "content-range": range = ContentRange(value)
        case "content-type": isMultipart = value.lowercased().hasPrefix("multipart/")
        default: break
        }
    }
}

extension StringProtocol {
    var trimmingSpaces: String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return String(self[first...last])
    }

    /// Whether it is safe to send the text back in a request header.
    fileprivate var isSafe: Bool { utf8.count <= 1000 && utf8.allSatisfy { (0x20...0x7e).contains($0) } }
}
