/// The login for downloads from one server, from a section `[Host photos.example.org]` or `[Host
/// photos.example.org:8443]`. Without a port in its header, the section applies to the standard port only.
public struct HostLogin: Sendable, Hashable {
    /// Whether the login may be sent over http, where anyone on the network path can read it.
    public enum PlainHTTP: String, Sendable, CaseIterable {
        case refuse
        case allow
    }

    /// Additional request headers, each as `Name: value`.
    public var headers: [String] = []
    public var user: String?
    /// The file with the password: an absolute path, or the name of a systemd credential of the service.
    public var passwordFile: String?
    public var plainHTTP = PlainHTTP.refuse

    init() {}

    /// The placeholder in a header, which the password replaces.
    public static let placeholder = "{password}"
    static let section = "Host"
    /// Maximum length in bytes. All headers, each with a password filled in, must fit into one message to the fetch
    /// worker.
    fileprivate static let longestHeader = 4000
    fileprivate static let mostHeaders = 8

    static let table: [Setting<HostLogin>] = [
        Setting(
            section, "Header", \.headers, .requestHeaders,
            "a header of each request to this host; {password} stands for the text of PasswordFile="),
        Setting(section, "User", \.user, .user, "the user name for a login with the password in PasswordFile="),
        Setting(
            section, "PasswordFile", \.passwordFile, .secretFile,
            "a file that only the daemon's user or root can read, or a credential of the service (LoadCredential=)"),
        Setting(
            section, "PlainHTTP", \.plainHTTP, .word,
            "refuse: the login is sent only over https; allow: also over http, where anyone on the way can read it"),
    ]

    /// The host in a section header `Host NAME`; nil for any other section.
    static func host(ofSection header: String) -> String? {
        guard header.hasPrefix("\(section) ") else { return nil }
        return header.dropFirst(section.count).trimmed.lowercased()
    }

    public var usesPassword: Bool { user != nil || headers.contains { $0.contains(Self.placeholder) } }

    /// Why the login can't work, or nil.
    var contradiction: String? {
        if user == nil, headers.isEmpty { return "has no login; write User= and PasswordFile=, or Header=" }
        if user != nil, headers.contains(where: { $0.lowercased().hasPrefix("authorization:") }) {
            return "logs in twice; write User=, or a Header= with Authorization"
        }
        if usesPassword, passwordFile == nil { return "has no password; write PasswordFile=" }
        if !usesPassword, passwordFile != nil {
            return "has a PasswordFile= that nothing uses; write User=, or \(Self.placeholder) in Header="
        }
        return nil
    }
}

extension SettingType<[String]> {
    /// Headers that a login must not set, because libcurl sets them or the transfer depends on them.
    private static let taken: Set<String> = [
        "accept-encoding", "connection", "content-length", "expect", "host", "if-range", "keep-alive", "range", "te",
        "trailer", "transfer-encoding", "upgrade",
    ]

    /// Request headers, whose values are secret. Each `Header=` line appends one header.
    fileprivate static let requestHeaders = Self(values: "Name: value", isSecret: true) {
        text, before throws(Refusal) in
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(\.trimmed)
        let name = parts[0].lowercased()
        guard parts.count == 2, !name.isEmpty, !parts[1].isEmpty,
            name.utf8.allSatisfy(\.isOfToken)
        else { throw Refusal("is not a request header", advice: "write it like Authorization: Bearer {password}") }
        guard !taken.contains(name), !name.hasPrefix("proxy-") else {
            throw Refusal("has a header that the download itself sets, or that no login needs (\(parts[0]))")
        }
        guard text.utf8.count <= HostLogin.longestHeader, before.count < HostLogin.mostHeaders else {
            throw Refusal(
                "is too much",
                advice: "a host may have \(HostLogin.mostHeaders) headers of \(HostLogin.longestHeader) bytes")
        }
        guard parts[1].unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f }) else {
            throw Refusal("has a control character in it")
        }
        guard parts[1].split(separator: HostLogin.placeholder, omittingEmptySubsequences: false).count <= 2 else {
            throw Refusal("has \(HostLogin.placeholder) more than once")
        }
        return before + ["\(parts[0]): \(parts[1])"]
    } write: {
        $0.map { "\($0.prefix { $0 != ":" }): …" }.joined(separator: ", ")
    }
}

extension SettingType<String?> {
    fileprivate static let user = Self(values: "a name") { text, _ throws(Refusal) in
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f && $0 != ":" }) else {
            throw Refusal("has a colon or a control character in it", advice: "no server accepts such a name")
        }
        return text
    } write: {
        $0 ?? ""
    }

    fileprivate static let secretFile = Self(values: "an absolute path, or a name") { text, _ throws(Refusal) in
        guard text.hasPrefix("/") || (!text.contains("/") && text != "." && text != "..") else {
            throw Refusal(
                "is not an absolute path", advice: "write it like /etc/pipelined/photos.password, or name a credential")
        }
        return text
    } write: {
        $0 ?? ""
    }
}
