extension String {
    /// The text with an escape for each character that controls a terminal, ends a line, or hides or reorders text.
    public var printable: String {
        // Fast path: nearly every line of the log is plain ASCII.
        if utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return self }
        guard unicodeScalars.contains(where: \.drivesTerminals) else { return self }
        return unicodeScalars.reduce(into: "") { safe, scalar in
            guard scalar.drivesTerminals else { return safe.unicodeScalars.append(scalar) }
            switch scalar {
            case "\n": safe += "\\n"
            case "\r": safe += "\\r"
            case "\t": safe += "\\t"
            default: safe += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
    }
}

extension Collection<UInt8> {
    /// The bytes as text, with an escape such as `\xff` for each byte that is not UTF-8.
    public var escaped: String {
        var text = ""
        var rest = Array(self)[...]
        while let first = rest.first {
            let length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
            if let character = String(validating: rest.prefix(length), as: UTF8.self) {
                text += character
                rest = rest.dropFirst(length)
            } else {
                text += "\\x" + String(first, radix: 16)
                rest = rest.dropFirst()
            }
        }
        return text
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is a control character, a separator of lines or paragraphs, or a mark that reorders text.
    public var drivesTerminals: Bool {
        switch value {
        case 0..<0x20, 0x7f..<0xa0: true
        case 0x2028, 0x2029, 0x200e, 0x200f, 0x061c, 0x202a...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
