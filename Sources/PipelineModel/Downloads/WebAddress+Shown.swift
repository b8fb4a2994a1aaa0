/// The form of a URL for messages, JSON, the log and events. It hides user and password, and the values of parameters
/// with secret-looking names. Only the ledger stores the full URL.
extension WebAddress {
    public var shown: String { Self.shown(text) }

    /// The form for messages of any text, even of a text that is not a valid URL.
    public static func shown(_ text: some StringProtocol) -> String {
        // Fast path: a URL without `@` and `=` contains neither a login nor parameters.
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "=") }) else {
            return String(text)
        }
        let (scheme, rest) = split(text)
        return scheme + hidingSecrets(of: hidingUser(of: rest))
    }

    private static func split(_ text: some StringProtocol) -> (scheme: String, rest: String) {
        let text = String(text)
        for (index, mark) in zip(text.indices, text) where mark == ":" {
            let after = text.index(after: index)
            guard text[after...].hasPrefix("//") else { continue }
            let end = text.index(after, offsetBy: 2)
            return (String(text[..<end]), String(text[end...]))
        }
        return ("", text)
    }

    /// Hides user and password before the host, even a password with a slash, which is invalid in a URL.
    private static func hidingUser(of rest: String) -> String {
        let authority = rest.prefix { !"/?#\\".contains($0) }
        if let at = authority.lastIndex(of: "@") { return "…" + rest[at...] }
        guard let colon = authority.firstIndex(of: ":"), !authority.hasPrefix("["),
            !authority[authority.index(after: colon)...].allSatisfy(\.isNumber), let at = rest.lastIndex(of: "@")
        else { return rest }
        return "…" + rest[at...]
    }

    /// Hides secret values in the query, the fragment and path parameters.
    private static func hidingSecrets(of rest: String) -> String {
        guard rest.contains("=") else { return rest }
        var shown = ""
        var part = ""
        func end() {
            defer { part = "" }
            guard let sign = part.firstIndex(of: "="), isSecret(part[..<sign]) else { return shown += part }
            shown += part[...sign] + "…"
        }
        for character in rest {
            if "?&;#".contains(character) {
                end()
                shown.append(character)
            } else {
                part.append(character)
            }
        }
        end()
        return shown
    }

    private static let secrets: Set<String> = [
        "auth", "authorization", "credential", "credentials", "hmac", "jwt", "key", "pass", "passwd", "password", "pw",
        "pwd", "secret", "session", "sessionid", "sid", "sig", "sign", "signature", "token",
    ]
    private static let endings = ["token", "key", "secret", "signature", "password", "passwd", "keyid", "sessionid"]

    /// Whether the parameter's name suggests a secret: `token`, `api_key`, `X-Amz-Signature`, `accessToken`, …
    private static func isSecret(_ name: Substring) -> Bool {
        let name = decoded(Array((name.split(separator: "/").last ?? "").utf8)).lowercased()
        if name.hasPrefix("x-amz-") || name.hasPrefix("x-goog-") { return true }
        return endings.contains(where: name.hasSuffix)
            || name.split { "-_.[]".contains($0) }.map(String.init)
                .contains(where: secrets.contains)
    }
}
