import Foundation
import PipelineControl
import Testing

func isNull(_ value: Any) -> Bool { value is NSNull }

/// Whether the value matches a Varlink scalar type. Foundation represents all JSON numbers by one type, and booleans as
/// numbers.
func isScalar(_ value: Any, _ type: String) -> Bool {
    switch type {
    case "string": value is String
    case "bool": value is Bool
    case "int": value is Int
    case "float": value is Double
    default: false
    }
}

/// Returns the value as the JSON object that is sent to a client.
func wireObject(_ value: some Encodable) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(Wire.encode(value))) as? [String: Any])
}
