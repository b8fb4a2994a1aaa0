import Testing

@testable import PipelineModel

@Suite("The settings of the fleet")
struct FleetSettingsTests {
    private static func problems(_ text: String) -> [String] {
        Configuration.load(
            settings: [ConfigurationText(name: "test.conf", text: text)], recipes: [], catalog: .withNoir
        ).problems.map(\.description)
    }

    @Test(
        "a server needs its port, and other forms are refused with the reason",
        arguments: [
            ("Servers", "nats://", "is not a list of servers"),
            ("Servers", "fleet.example.org:4222", "is not a list of servers"),
            ("Servers", "tls://fleet.example.org", "is not a list of servers"),
            ("Servers", "tls://a:0", "is not a list of servers"),
            ("Servers", "tls://a:65536", "is not a list of servers"), ("Servers", "tls://a b:1", "(tls://a)"),
            ("Servers", "tls://user@a:1", "is not a list of servers"),
            ("Credentials", "node.creds", "is not an absolute path"),
            ("Name", "Darkroom", "is not a node's name"), ("Name", "a.b", "is not a node's name"),
            ("Name", String(repeating: "a", count: 41), "up to 40 small letters"), ("Ahead", "-1", "auto or 0 to 1024"),
            ("Ahead", "1025", "auto or 0 to 1024"), ("Give", "sometimes", "auto"), ("TakeBack", "0s", "1s to"),
        ])
    func refused(key: String, text: String, words: String) {
        var settings = Settings()
        do {
            try settings.set(key, in: "Fleet", to: text, source: "test.conf")
            Issue.record("\(key)=\(text) was taken")
        } catch {
            #expect(error.description.contains(words), "\(error)")
        }
        #expect(settings.fleet == FleetSettings())
    }

    @Test("limits are inclusive")
    func edges() throws {
        var settings = Settings()
        let servers = "nats://127.0.0.1:1 tls://Fleet-1.example.org:65535 tls://[fd00::1]:4222"
        try settings.set("Servers", in: "Fleet", to: servers, source: "test.conf")
        try settings.set("Name", in: "Fleet", to: String(repeating: "a", count: 40), source: "test.conf")
        try settings.set("Ahead", in: "Fleet", to: "1024", source: "test.conf")
        #expect(settings.fleet.isOn && settings.fleet.servers?.count == 3 && settings.fleet.ahead == .count(1024))
    }

    @Test(
        "other machines need TLS, and the two files must be given together",
        arguments: [
            ("Servers=nats://127.0.0.1:4222", nil), ("Servers=nats://localhost:4222 nats://[::1]:4222", nil),
            ("Servers=nats://fleet.example.org:4222", "has no Credentials= and Authority=, without which"),
            ("Servers=nats://127.evil.example.org:4222", "anybody on the way to nats://127.evil"),
            ("Servers=nats://127.0.0.1:4222\nCredentials=/c", "has no Authority=; the two belong together"),
            ("Servers=tls://a:1\nCredentials=/c\nAuthority=/a", nil), ("Credentials=/c", nil),
        ] as [(String, String?)])
    func contradiction(text: String, words: String?) {
        let problems = Self.problems("[Fleet]\n\(text)\n")
        #expect(problems.count == (words == nil ? 0 : 1))
        if let words { #expect(problems.first?.contains(words) == true, "\(problems)") }
    }

    @Test(
        "without Name= the node has its machine's name",
        arguments: [
            ("darkroom.example.org", "darkroom"), ("Bill's_PC", "bill-s-pc"), ("", "node"), ("Büro", "b--ro"),
            (String(repeating: "x", count: 60), String(repeating: "x", count: 40)),
        ])
    func name(host: String, name: String) { #expect(NodeName.made(of: host) == name) }
}
