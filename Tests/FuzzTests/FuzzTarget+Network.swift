import PipelineControl

@testable import FetchWorker
@testable import Gallery
@testable import PipelineModel

/// Messages from servers and browsers.
extension FuzzTarget {
    static let network: [FuzzTarget] = [addresses, tables, answerHeaders, contentRanges, contentDispositions, requests]

    private static let addresses = text("addresses", words: ["https://", "URL=", "%2e", "token=", "://"]) { text in
        for kind in [AddressList.Kind.lines, .shortcut] {
            guard let list = try? AddressList(text, kind, most: 1000) else { continue }
            for entry in list.entries { check(entry) }
        }
    }

    private static let tables = FuzzTarget(
        "tables",
        words: ["url,name,caption,credit,recipe\n", "\"", "\"\"", "\t", ";", "\r\n", "https://a/", "\u{feff}"]
    ) { bytes in
        for kind in [AddressList.Kind.table, .lines] {
            guard var list = try? AddressList(bytes, kind, most: 1000) else { continue }
            precondition(list.entries.count <= 1000, "there are more entries than lines")
            list.refuse(recipes: ["a": "is held"])
            for entry in list.entries { check(entry) }
        }
    }

    private static func check(_ entry: AddressList.Entry) {
        switch entry {
        case .wrong(let line, _): precondition((1...1000).contains(line), "an entry is in no line")
        case .address(let address): check(address, nil)
        case .row(let address, let row):
            check(address, row.texts.name)
            precondition((1...1000).contains(row.line), "a row is in no line")
            let texts = [row.texts.caption, row.texts.credit].compactMap(\.self)
            precondition(texts.allSatisfy { !$0.utf8.contains(0) && (1...2000).contains($0.utf8.count) }, "a bad text")
        }
    }

    private static func check(_ address: WebAddress, _ name: String?) {
        _ = address.server
        precondition(WebAddress.shown(address.shown) == address.shown, "a secret is left: \(address.text)")
        checkName(DownloadName.given(name, else: DownloadName.name(said: nil, url: address)))
    }

    /// Checks that a download's name is safe to use as a file name.
    private static func checkName(_ name: String) {
        precondition((1...DownloadName.longest).contains(name.utf8.count), "a name is empty, or too long: \(name)")
        precondition(!name.utf8.contains { $0 == UInt8(ascii: "/") || $0 < 0x20 }, "a name is a path: \(name)")
        precondition(![".", "-", "~"].contains(name.unicodeScalars.first), "a name begins oddly: \(name)")
    }

    private static let answerHeaders = FuzzTarget(
        "answer-headers",
        words: [
            "HTTP/1.1 206", "Content-Disposition:", "ETag: \"", "Last-Modified: ", "Date: ", "Accept-Ranges: none",
            "Content-Encoding: gzip", "Transfer-Encoding: chunked", "Content-Range: bytes ", "Content-Type: multipart/",
            "Fri, 27 Nov 2026 08:00:00 GMT",
        ]
    ) { bytes in
        var header = AnswerHeader()
        for line in bytes.split(separator: 10, omittingEmptySubsequences: false) {
            Array(line + [10]).withUnsafeBytes { header.read($0) }
        }
        if let validator = header.validator {
            precondition(validator.utf8.allSatisfy { (0x20...0x7e).contains($0) }, "a validator can't be sent back")
        }
        let resume = FetchResume(offset: 100, validator: header.validator ?? "\"a\"")
        guard let rest = header.continuation(of: resume, length: nil) else { return }
        precondition(rest.end > resume.offset && rest.end <= rest.total, "a part ends behind the whole")
    }

    private static let contentRanges = text("content-ranges", words: ["bytes ", "/*"]) { text in
        guard let range = ContentRange(text) else { return }
        precondition(range.first >= 0 && range.first <= range.last, "a range ends before it begins")
        precondition(range.total.map { range.last < $0 } ?? true, "a range ends behind the whole")
    }

    private static let contentDispositions = text(
        "content-dispositions", words: ["attachment;", "filename=", "filename*=UTF-8''"]
    ) { text in
        guard let said = ContentDisposition.fileName(text) else { return }
        checkName(DownloadName.name(said: said, url: try WebAddress("https://example.org/")))
    }

    /// Input: the header lines of an HTTP request.
    private static let requests = text(
        "requests",
        words: [
            "GET ", "HTTP/1.1", "Host: ", "Content-Length: ", "Transfer-Encoding: chunked", "Cookie: ", "Origin: ",
            "Sec-Fetch-Site: ", "Sec-Fetch-Mode: navigate", "Accept: ", "application/openmetrics-text", ";q=",
        ]
    ) { text in
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let words = (lines.first ?? "").split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(
            String.init)
        guard words.count == 3 else { return }
        let headers = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return HTTPRequest.Header(name: String(parts[0]), value: parts.count > 1 ? parts[1].trimmingSpaces : "")
        }
        let request = HTTPRequest(method: words[0], path: words[1], version: words[2], headers: headers)
        guard request.refusal == nil, request.refusal(longestBody: 1 << 20) == nil else { return }
        precondition(request.values("host").count <= 1, "a request with two hosts is answered")
        precondition(request.values("content-length").count <= 1, "a request with two lengths is answered")
        precondition((0...1 << 20).contains(request.length ?? 0), "a request of an odd length is answered")
        guard Guard(door: nil).refusal(request) == nil else { return }
        precondition(Guard(door: Door(port: 80)).lock(request) != nil, "a request without a login is let in")
        _ = MetricsFormat.wanted(by: request.values("accept"))
    }
}
