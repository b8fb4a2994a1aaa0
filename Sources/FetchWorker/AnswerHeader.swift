import PipelineModel

/// The fields of an answer's header that the worker needs. Each answer begins a new header, even an interim answer.
struct AnswerHeader {
    private(set) var status = 0
    /// The whole header of the final answer has come.
    private(set) var isWhole = false
    private(set) var name: String?
    /// The entity tag, strong or weak.
    private(set) var tag: String?
    /// Last-Modified.
    private(set) var modified: String?
    private var date: String?
    private(set) var refusesRanges = false
    private(set) var isEncoded = false
    /// The transfer has an encoding other than chunks, which only a request may ask for.
    private(set) var isTransferEncoded = false
    /// The body has several parts, with boundaries between them.
    private(set) var isMultipart = false
    /// The range of a partial answer.
    private(set) var range: ContentRange?

    /// The validator that a later request may give in If-Range (RFC 9110, 13.1.5): a strong tag, or without any tag the
    /// date of change. The date counts only if the file was so old, by the server's own clock, that no second change
    /// has the same date.
    var validator: String? {
        if let tag { return Self.isStrong(tag) ? tag : nil }
        guard let modified, let changed = Curl.seconds(ofDate: modified), let now = date.flatMap(Curl.seconds(ofDate:)),
            now - changed >= Self.leastAge
        else { return nil }
        return modified
    }

    /// In seconds: enough even if the answer's two dates come from different clocks.
    private static let leastAge = 60

    private static func isStrong(_ tag: String) -> Bool { tag.hasPrefix("\"") }

    /// The range and the total of a partial answer that continues the file of `resume` (RFC 9110, 15.3.7.3); nil if it
    /// may belong to another file. Each partial answer repeats the tag of the first, but may leave the date out.
    /// `length` is Content-Length.
    func continuation(of resume: FetchResume, length: Int64?) -> (end: Int64, total: Int64)? {
        guard status == 206, !isEncoded, !isMultipart, let range, range.first == resume.offset,
            tag == (Self.isStrong(resume.validator) ? resume.validator : nil),
            modified == nil || resume.modified == nil || modified == resume.modified,
            let total = range.total ?? resume.total, total == resume.total ?? total, range.last < total,
            length == nil || length == range.last - range.first + 1
        else { return nil }
        return (range.last + 1, total)
    }

    /// Takes a line, including its end.
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
        // A tag that can't be sent back proves nothing, like a weak tag.
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

    /// Whether the text may be sent back in a header.
    fileprivate var isSafe: Bool { utf8.count <= 1000 && utf8.allSatisfy { (0x20...0x7e).contains($0) } }
}
