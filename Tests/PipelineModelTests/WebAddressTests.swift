import Testing

@testable import PipelineModel

struct WebAddressTests {
    @Test(
        "A web URL names a host",
        arguments: [
            "http://a", "https://a.example/b?c#d", "HTTPS://A", "http://user:word@a:80/", "http://[::1]:8/x",
            "http://ä/ö",
        ])
    func address(text: String) throws {
        #expect(try WebAddress(text).text == text)
    }

    @Test(
        "An invalid URL is refused, with the reason",
        arguments: [
            ("", "is not an http or https URL"), ("a.jpg", "is not an http or https URL"),
            ("ftp://a/b", "is not an http or https URL"), ("file:///etc/passwd", "is not an http or https URL"),
            ("http:/a", "is not an http or https URL"), ("javascript:http://a", "is not an http or https URL"),
            ("http://", "names no host"), ("https:///a", "names no host"), ("http://:80/", "names no host"),
            ("http://user@/", "names no host"), ("http://a/b c", "has a space"), ("http://a/\u{0}", "has a space"),
            ("http://a/\r\nHost: b", "has a space"), ("http://a/\u{2028}", "has a space"),
            ("http://a/" + String(repeating: "x", count: 8000), "has 8009 bytes"),
        ])
    func refused(text: String, reason: String) {
        let refusal = #expect(throws: Refusal.self) { try WebAddress(text) }
        #expect(refusal?.sentence.hasPrefix(reason) == true, "\(refusal?.sentence ?? "")")
    }

    @Test(
        "A URL's server is its host and port in lower case, without user and password",
        arguments: [
            ("https://b.example/1.png", "b.example"), ("http://User:p@ss@B.example/2.png", "b.example"),
            ("http://a.example:8080?q=/x@y", "a.example:8080"), ("http://b.example\\@d.example/", "b.example"),
            ("https://[2001:DB8::1]:443/z.png#@c.example", "[2001:db8::1]:443"),
        ])
    func server(text: String, server: String) throws {
        #expect(try WebAddress(text).server == server)
    }

    @Test(
        "A URL's secrets are not shown",
        arguments: [
            ("http://a/b.png", "http://a/b.png"), ("http://a/b?w=1&h=2#top", "http://a/b?w=1&h=2#top"),
            ("http://user:word@a:80/b", "http://…@a:80/b"), ("HTTPS://t0ken@a/b@c", "HTTPS://…@a/b@c"),
            ("http://u:w@x@a/", "http://…@a/"), ("http://u:p/w@a/b", "http://…@a/b"),
            ("http://a:80/b@c", "http://a:80/b@c"),
            ("http://u:p w@a/b", "http://…@a/b"), ("u:p@a/b.png", "…@a/b.png"), ("ftp://u:p@a/b", "ftp://…@a/b"),
            ("http://a/?token=x&w=1&Key=y;SIG=z", "http://a/?token=…&w=1&Key=…;SIG=…"),
            ("http://a/?X-Amz-Date=1&X-Goog-Signature=2", "http://a/?X-Amz-Date=…&X-Goog-Signature=…"),
            (
                "http://a/?access_token=x&api-key=y&accessToken=z&AWSAccessKeyId=q",
                "http://a/?access_token=…&api-key=…&accessToken=…&AWSAccessKeyId=…"
            ),
            ("http://a/?%74oken=x&client_secret=y=z", "http://a/?%74oken=…&client_secret=…"),
            ("http://a/b;sid=1/c#auth=2&v=3", "http://a/b;sid=…#auth=…&v=3"),
            ("http://a/?keyword=x&size=2", "http://a/?keyword=x&size=2"),
        ])
    func shown(text: String, shown: String) {
        #expect(WebAddress.shown(text) == shown)
        if let address = try? WebAddress(text) { #expect("\(address)" == shown && address.text == text) }
    }

    @Test(
        "A download's name comes from its server, or its URL, or its host",
        arguments: [
            ("a.jpg", "https://h/b.png", "a.jpg"), (nil, "https://h/x/b.png?c=/d.gif#e", "b.png"),
            (nil, "https://h/%C3%A4%20b.png", "ä b.png"), (nil, "https://h/x/", "h"), (nil, "https://h", "h"),
            ("", "https://u:p@host:80/", "host"), (nil, "http://[::1]/", "[::1"), (nil, "https://h/..", "h"),
            (nil, "https://h/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "passwd"), (nil, "https://h/%00", "h"),
            (nil, "http://127.0.0.1/", "127-0-0-1"), (nil, "https://www.example.com", "www-example-com"),
        ] as [(String?, String, String)])
    func name(said: String?, url: String, name: String) throws {
        #expect(DownloadName.name(said: said, url: try WebAddress(url)) == name)
    }

    @Test(
        "A name from outside is made safe",
        arguments: [
            ("../../etc/passwd", "passwd"), ("..\\..\\boot.ini", "boot.ini"), ("/", ""), ("..", ""), (".", ""),
            ("...", ""), (".bashrc", "bashrc"), ("-rf", "rf"), ("a\u{0}b", "ab"), ("a\r\nb", "ab"), ("a\tb", "ab"),
            ("gpj\u{202e}.exe", "gpj.exe"), ("a\u{200b}b", "ab"), ("a\u{2028}b", "ab"), (" a ", "a"),
            ("a.jpg.", "a.jpg"),
            ("a~", "a"), ("~a", "a"), ("~", ""), ("dir/", "dir"), ("ä€🌄.jpg", "ä€🌄.jpg"),
        ])
    func safe(text: String, name: String) {
        #expect(DownloadName.safe(text) == name)
    }

    @Test("A name has at most 200 bytes, and keeps its suffix")
    func long() {
        #expect(
            DownloadName.safe(String(repeating: "a", count: 300) + ".jpg") == String(repeating: "a", count: 196)
                + ".jpg")
        #expect(DownloadName.safe(String(repeating: "ä", count: 300)).utf8.count == 200)
        #expect(DownloadName.safe("a." + String(repeating: "b", count: 300)).utf8.count == 200)
        #expect(DownloadName.safe(String(repeating: "a", count: 200)).utf8.count == 200)
        #expect(DownloadName.safe("a" + String(repeating: "\u{301}", count: 500)).utf8.count <= 200)
    }
}

struct AddressListTests {
    @Test("A list may be UTF-16 of either byte order", arguments: [true, false])
    func utf16(isLittle: Bool) throws {
        let text = "\u{feff}# Bäume\r\nhttps://example.com/a.jpg\r\nhttps://example.com/b.jpg\r\n"
        let bytes = text.utf16.flatMap { unit in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xff))
            return isLittle ? [low, high] : [high, low]
        }
        let list = try AddressList(bytes, .lines, most: 10)
        #expect(list.entries.count == 2 && list.wrong == 0)
    }

    @Test(
        "A file that is not text is refused as a whole, whatever its lines",
        arguments: [
            Array("\u{7f}ELF\0\n\nhttps://example.com/a.jpg\n".utf8), [0xff, 0xd8, 0xff, 0xe0, 10, 0x4a, 0x46, 10, 1],
            [0xff, 0xfe, 0, 0, 0x68, 0, 0, 0],
        ])
    func binary(bytes: [UInt8]) throws {
        let refusal = #expect(throws: Refusal.self) { try AddressList(bytes, .lines, most: 1000) }
        #expect(refusal?.complaint == "is not text" && refusal?.advice?.contains("UTF-8 or UTF-16") == true)
    }

    @Test("A comment that is not UTF-8 spoils no list")
    func latin() throws {
        let bytes = Array("# B".utf8) + [0xe4] + Array("ume\nhttps://example.com/a.jpg\n".utf8)
        #expect(try AddressList(bytes, .lines, most: 10).entries.count == 1)
    }

    private func list(_ text: String, _ kind: AddressList.Kind = .lines, most: Int = 100) throws -> [String] {
        try AddressList(text, kind, most: most).entries.map { entry in
            switch entry {
            case .address(let url), .row(let url, _): url.text
            case .wrong(_, let reason): reason
            }
        }
    }

    @Test("A list has one URL per line; blank lines and comments count, but are skipped")
    func lines() throws {
        #expect(AddressList.kind(of: "a.URLS") == .lines)
        #expect(AddressList.kind(of: "a.Url") == .shortcut)
        #expect(AddressList.kind(of: "a.urls.jpg") == nil)
        #expect(
            try list("\u{feff}http://a\r\n\n  # http://b\n\thttps://c \nhttp://d") == [
                "http://a", "https://c", "http://d",
            ])
        #expect(
            try list("# one\nc.jpg\nhttp://a b\n") == [
                "'c.jpg' is not an http or https URL; a URL begins with https://",
                "'http://a b' has a space or a control character in it; write %20 for a space",
            ])
        #expect(try list("x" + String(repeating: "y", count: 1000)).first?.utf8.count ?? 0 < 300)
    }

    @Test("A shortcut's URL follows URL=, whatever else there is")
    func shortcut() throws {
        #expect(try list("[InternetShortcut]\r\nProp3=19,2\r\nurl=https://a/b\r\n", .shortcut) == ["https://a/b"])
        #expect(try list("[Desktop Entry]\nType=Link\nURL = http://a", .shortcut) == ["http://a"])
    }

    @Test("A list with too many lines, or without a URL, is invalid")
    func limits() throws {
        #expect(try list("http://a\nhttp://b", most: 2).count == 2)
        #expect(try list("http://a\nhttp://b\n", most: 2).count == 2)
        #expect(throws: Refusal("has 3 lines", advice: "2 are allowed: split it, or raise ListLines in [Download]")) {
            try list("http://a\nhttp://b\n#", most: 2)
        }
        for text in ["", "\n\n", "# http://a"] {
            #expect(throws: Refusal("contains no URL", advice: "write one a line")) { try list(text) }
        }
    }
}
