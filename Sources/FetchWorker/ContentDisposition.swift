/// The header field that may name a download (RFC 6266): `attachment; filename="a b.jpg"; filename*=UTF-8''%c3%a4.jpg`.
enum ContentDisposition {
    /// Returns the file name as the server sent it; callers must not use it as a path. `filename*` takes precedence
    /// over `filename`.
    static func fileName(_ value: String) -> String? {
        var plain: String?
        for (key, value) in parameters(value) {
            switch key.lowercased() {
            case "filename*": if let name = decoded(value) { return name }
            case "filename": plain = plain ?? value
            default: break
            }
        }
        return plain
    }

    private static func parameters(_ text: String) -> [(key: String, value: String)] {
        var found: [(String, String)] = []
        var rest = text[...].drop { $0 != ";" }
        while rest.first == ";" {
            rest = rest.dropFirst()
            let key = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(key.count)
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let value = rest.first == "\"" ? quoted(&rest) : bare(&rest)
            found.append((key.trimmingSpaces, value))
            rest = rest.drop { $0 != ";" }
        }
        return found
    }

    private static func bare(_ rest: inout Substring) -> String {
        let value = rest.prefix { $0 != ";" }
        rest = rest.dropFirst(value.count)
        return value.trimmingSpaces
    }

    private static func quoted(_ rest: inout Substring) -> String {
        var value = ""
        rest = rest.dropFirst()
        while let character = rest.popFirst(), character != "\"" {
            guard character == "\\", let escaped = rest.popFirst() else {
                value.append(character)
                continue
            }
            value.append(escaped)
        }
        return value
    }

    /// Decodes `UTF-8''a%20b.jpg`. Returns nil for other encodings, so that `filename` is used instead.
    private static func decoded(_ text: String) -> String? {
        let parts = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        var bytes: [UInt8] = []
        var rest = Array(parts[2].utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16), rest.count >= 2 else {
                return nil
            }
            bytes.append(code)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
