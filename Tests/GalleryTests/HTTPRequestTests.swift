import Testing

@testable import Gallery

@Suite("A request's headers")
struct HTTPRequestTests {
    private static func status(_ version: String = "HTTP/1.1", _ headers: (String, String)...) -> Int? {
        let request = HTTPRequest(
            method: "GET", path: "/metrics", version: version,
            headers: headers.map { HTTPRequest.Header(name: $0, value: $1) })
        return (request.refusal ?? request.refusal(longestBody: 10))?.status
    }

    @Test("exactly one Host header is required, in any case")
    func hosts() {
        #expect(Self.status("HTTP/1.1", ("hOST", "a")) == nil)
        #expect(Self.status("HTTP/1.1") == 400)
        #expect(Self.status("HTTP/1.0") == nil)
        #expect(Self.status("HTTP/1.1", ("Host", "a"), ("HOST", "a")) == 400)
        #expect(Self.status("HTTP/1.0", ("Host", "a"), ("Host", "b")) == 400)
        #expect(Self.status("HTTP/2.0", ("Host", "a")) == 505)
    }

    @Test("a header's name is a token, its value has no control characters, and each header is one line")
    func plain() {
        for name in ["Transfer-Encoding ", "Transfer Encoding", " Host", "X\t", "", "X\u{e4}", "X(", "X\u{0}"] {
            #expect(Self.status("HTTP/1.1", ("Host", "a"), (name, "chunked")) == 400, "\(name)")
        }
        for value in ["a\rb", "a\nb", "a\u{0}b", "a\u{7f}", "\u{1b}[m"] {
            #expect(Self.status("HTTP/1.1", ("Host", "a"), ("X", value)) == 400, "\(value)")
        }
        for value in ["", "a\tb", "\u{e4} !~", "a: b"] {
            #expect(Self.status("HTTP/1.1", ("Host", "a"), ("X-a!#$%&'*+.^_`|~0", value)) == nil, "\(value)")
        }
        var folded = HTTPRequest(
            method: "GET", path: "/", version: "HTTP/1.1", headers: [HTTPRequest.Header(name: "Host", value: "a")])
        #expect(folded.refusal == nil)
        folded.hasPlainLines = false
        #expect(folded.refusal?.status == 400)
    }

    @Test("Content-Length appears once, as a number, and is at most the site's limit")
    func lengths() {
        for (length, status) in [
            ("0", nil), ("10", nil), ("11", 413), ("99999999999999999999", 400), ("-1", 400), ("+1", 400), ("1,1", 400),
            ("0x1", 400), ("", 400), ("1 ", 400), ("١", 400),
        ] as [(String, Int?)] {
            #expect(Self.status("HTTP/1.1", ("Host", "a"), ("Content-Length", length)) == status, "\(length)")
        }
        #expect(Self.status("HTTP/1.1", ("Host", "a"), ("Content-Length", "1"), ("content-length", "1")) == 400)
        #expect(Self.status("HTTP/1.1", ("Host", "a"), ("Transfer-Encoding", "chunked")) == 411)
        #expect(
            Self.status("HTTP/1.1", ("Host", "a"), ("Content-Length", "1"), ("Transfer-Encoding", "chunked")) == 400)
    }
}
