import Foundation

/// Encodes and decodes the JSON text of columns. The text is canonical: equal values produce equal texts.
enum JSONText {
    static func encode(_ value: some Encodable & JSONWritten) throws -> String {
        var line = JSONLine()
        value.write(to: &line)
        return String(decoding: line.bytes, as: UTF8.self)
    }

    static func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
