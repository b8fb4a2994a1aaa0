import FoundationEssentials

/// Varlink's framing: JSON objects, each followed by a NUL.
public enum Wire {
    public static let terminator: UInt8 = 0

    /// Encodes JSON in a fixed form, so that equal values always give equal bytes.
    public static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try Array(encoder.encode(value))
    }

    public static func frame(_ value: some Encodable) throws -> [UInt8] {
        try encode(value) + [terminator]
    }

    public static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: some Collection<UInt8>) throws -> Value {
        try JSONDecoder().decode(type, from: Data(bytes))
    }
}

public struct WireCall<Parameters: Codable & Sendable>: Codable, Sendable {
    public var method: String
    public var parameters: Parameters
    public var more: Bool?

    public init(method: String, parameters: Parameters, more: Bool? = nil) {
        (self.method, self.parameters, self.more) = (method, parameters, more)
    }
}

/// A call without its parameters.
public struct WireCallHead: Codable, Sendable {
    public var method: String
    public var more: Bool?
    public var oneway: Bool?
}

public struct WireReply<Parameters: Codable & Sendable>: Codable, Sendable {
    public var parameters: Parameters
    public var continues: Bool?

    public init(parameters: Parameters, continues: Bool? = nil) {
        (self.parameters, self.continues) = (parameters, continues)
    }
}

public struct WireError: Codable, Sendable {
    public var error: String
    public var parameters: ErrorParameters?

    public init(_ error: ControlError) {
        let wire = error.wire
        self.error = wire.name
        self.parameters = wire.parameters
    }
}

/// The answer to a call. Decoding it returns a reply, or throws a `ControlError` if the daemon has sent an error.
struct WireAnswer<Parameters: Decodable>: Decodable {
    var parameters: Parameters
    var continues: Bool

    private enum CodingKeys: String, CodingKey {
        case error, parameters, continues
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let name = try container.decodeIfPresent(String.self, forKey: .error) {
            // Another interface's error may have parameters with the same names but different types. If the parameters
            // can't be decoded, throws the error without parameters.
            let parameters = try? container.decodeIfPresent(ErrorParameters.self, forKey: .parameters)
            throw ControlError(name: name, parameters: parameters ?? ErrorParameters())
        }
        parameters = try container.decode(Parameters.self, forKey: .parameters)
        continues = try container.decodeIfPresent(Bool.self, forKey: .continues) ?? false
    }
}
