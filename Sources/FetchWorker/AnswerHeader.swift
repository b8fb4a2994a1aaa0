/// The fields of an answer's header that the worker needs. Every answer begins a new header, interim answers too.
struct AnswerHeader {
    private(set) var status = 0
    /// The header's last line has come.
    private(set) var isWhole = false
    private(set) var name: String?
    private var strongTag: String?
    private var changed: String?
    private(set) var refusesRanges = false
    private(set) var isEncoded = false
    /// The transfer has an encoding that only a request may ask for: any but chunks.
    private(set) var isTransferEncoded = false
    /// Where the body of a partial answer begins in the whole.
    private(set) var rangeStart: Int64?

    /// A strong tag or a date, by which a later request finds out that the server still has the same file.
    var validator: String? { strongTag ?? changed }

    /// Takes a line, with its end.
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
        case "etag": strongTag = value.hasPrefix("\"") && value.isSafe ? value : nil
        case "last-modified": changed = value.isSafe ? value : nil
        case "accept-ranges": refusesRanges = value.lowercased() == "none"
        case "content-encoding": isEncoded = value.lowercased() != "identity"
        case "transfer-encoding":
            let encodings = value.split(separator: ",").map { $0.trimmingSpaces.lowercased() }
            isTransferEncoded = isTransferEncoded || !Set(encodings).isSubset(of: ["chunked", "identity"])
        case "content-range": rangeStart = Self.start(ofRange: value)
        default: break
        }
    }

    /// `bytes 100-199/200`
    private static func start(ofRange text: String) -> Int64? {
        guard text.lowercased().hasPrefix("bytes ") else { return nil }
        return text.dropFirst(6).split(separator: "-").first.flatMap { Int64($0.trimmingSpaces) }
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

    /// The text may be sent back in a header.
    fileprivate var isSafe: Bool { utf8.count <= 1000 && utf8.allSatisfy { (0x20...0x7e).contains($0) } }
}
