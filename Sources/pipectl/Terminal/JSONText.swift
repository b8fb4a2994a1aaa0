import FoundationEssentials
import PipelineControl
import SystemCalls

/// JSON in a fixed form: keys are sorted, and equal values give equal text.
enum JSONText {
    static func line(_ value: some Encodable) throws -> String {
        try encode(value, [.sortedKeys, .withoutEscapingSlashes])
    }

    static func document(_ value: some Encodable) throws -> String {
        try encode(value, [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted])
    }

    private static func encode(_ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        return escaped(String(decoding: try encoder.encode(value), as: UTF8.self))
    }

    /// Escapes characters that JSON allows but a terminal would obey. Such characters occur only in strings, where an
    /// escape sequence means the same.
    private static func escaped(_ text: String) -> String {
        func mustBeEscaped(_ scalar: Unicode.Scalar) -> Bool { scalar.value >= 0x7f && scalar.drivesTerminals }
        guard text.unicodeScalars.contains(where: mustBeEscaped) else { return text }
        return text.unicodeScalars.reduce(into: "") { safe, scalar in
            guard mustBeEscaped(scalar) else { return safe.unicodeScalars.append(scalar) }
            let digits = String(scalar.value, radix: 16)
            safe += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}
