import Testing

@testable import PipelineModel

@Suite("A section [Host NAME]")
struct HostLoginTests {
    private func load(_ texts: String...) -> (settings: Settings, problems: [String]) {
        let files = texts.enumerated().map { ConfigurationText(name: "\($0.offset + 1).conf", text: $0.element) }
        let loaded = Configuration.load(settings: files, recipes: [], catalog: .withNoir)
        return (loaded.configuration.settings, loaded.problems.map(\.description))
    }

    @Test("a section is a login, later files add to it, and its secrets are not shown")
    func read() {
        let (settings, problems) = load(
            """
            [Host Photos.Example.org]
            Header=Authorization: Bearer canary-a
            Header=X-Key:canary-b
            [Host cdn.example.org:8443]
            User=ada
            """,
            """
            [Host cdn.example.org:8443]
            PasswordFile=/etc/pipelined/cdn.password
            PlainHTTP=allow
            """)
        #expect(problems == [])
        #expect(
            settings.hosts["photos.example.org"]?.headers == ["Authorization: Bearer canary-a", "X-Key: canary-b"])
        let cdn = settings.hosts["cdn.example.org:8443"]
        #expect(cdn?.user == "ada")
        #expect(cdn?.passwordFile == "/etc/pipelined/cdn.password")
        #expect(cdn?.plainHTTP == .allow)
        let rows = settings.rows.filter { $0.section.hasPrefix("Host ") }
        #expect(
            rows.map { "[\($0.section)] \($0.key)=\($0.value) (\($0.source))" } == [
                "[Host cdn.example.org:8443] Header= (default)", "[Host cdn.example.org:8443] User=ada (1.conf)",
                "[Host cdn.example.org:8443] PasswordFile=/etc/pipelined/cdn.password (2.conf)",
                "[Host cdn.example.org:8443] PlainHTTP=allow (2.conf)",
                "[Host photos.example.org] Header=Authorization: …, X-Key: … (1.conf)",
                "[Host photos.example.org] User= (default)", "[Host photos.example.org] PasswordFile= (default)",
                "[Host photos.example.org] PlainHTTP=refuse (default)",
            ])
    }

    @Test(
        "a login applies only to its own server, with the scheme's default port",
        arguments: [
            ("https://a.org/x", "a.org"), ("https://user@A.ORG:443/x", "a.org"), ("http://a.org:80", "a.org"),
            ("https://a.org:80/", nil), ("https://b.org/", "b.org:443"), ("http://b.org/", nil),
            ("https://b.org:444/", nil), ("https://c.a.org", nil), ("https://a.org.evil", nil),
            ("https://a.org@evil/", nil), ("https://[::1]:8443/", "[::1]:8443"),
        ] as [(String, String?)])
    func lookup(url: String, host: String?) throws {
        let names = ["a.org", "b.org:443", "[::1]:8443"]
        let (settings, problems) = load(names.map { "[Host \($0)]\nHeader=X: y\n" }.joined())
        #expect(problems == [])
        #expect(settings.login(for: try WebAddress(url))?.host == host)
    }

    @Test("mistakes are reported with their line, and never with a secret")
    func mistakes() {
        let many = (1...9).map { "Header=X-\($0): y" }.joined(separator: "\n")
        let (_, problems) = load(
            """
            [Host a.org]
            Header=canary
            Header=Range: canary
            Header=X y: canary
            Header canary
            Headers=canary
            User=a:canary
            PasswordFile=etc/password
            [Host https://b.org]
            [Host c.org]
            [Host d.org]
            User=ada
            [Host e.org]
            PasswordFile=token
            Header=X: y
            [Host f.org]
            Header=X: {password}
            [Host g.org]
            User=ada
            PasswordFile=token
            Header=authorization: Bearer canary
            [Hots g.org]
            [Host h.org]
            Header=X: \(String(repeating: "y", count: 4000))
            Header=X: {password}{password}
            [Host i.org]
            \(many)
            """)
        #expect(
            problems.map { String($0.prefix { $0 != ";" }) } == [
                "1.conf:5: this is not a setting",
                "1.conf:2: Header=… is not a request header",
                "1.conf:3: Header=… has a header that the download itself sets, or that no login needs (Range)",
                "1.conf:4: Header=… is not a request header",
                "1.conf:6: unknown setting 'Headers' in [Host]",
                "1.conf:7: User=a:canary has a colon or a control character in it",
                "1.conf:8: PasswordFile=etc/password is not an absolute path",
                "1.conf:9: 'https://b.org' is not a host",
                "1.conf:22: unknown section [Hots g.org]",
                "1.conf:24: Header=… is too much", "1.conf:25: Header=… has {password} more than once",
                "1.conf:35: Header=… is too much",
                "1.conf:1: [Host a.org] has no login",
                "1.conf:10: [Host c.org] has no login",
                "1.conf:11: [Host d.org] has no password",
                "1.conf:13: [Host e.org] has a PasswordFile= that nothing uses",
                "1.conf:16: [Host f.org] has no password",
                "1.conf:18: [Host g.org] logs in twice",
                "1.conf:23: [Host h.org] has no login",
            ])
    }
}
