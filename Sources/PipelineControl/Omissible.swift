/// An optional or a list whose key may be missing in the JSON, for example in an older daemon's message. A missing key
/// decodes as nil or as an empty list. A list is never null. Encoding always writes the key, with `null` for nil, so
/// that readers of the JSON find every name. Swift's synthesized encoding would omit the key.
@propertyWrapper
public struct Omissible<Value: EmptyRepresentable & Sendable>: Codable, Sendable, Hashable {
    public var wrappedValue: Value

    public init(wrappedValue: Value) {
        self.wrappedValue = wrappedValue
    }

    public init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Value.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

public protocol EmptyRepresentable: Codable, Hashable {
    static var none: Self { get }
}

extension Optional: EmptyRepresentable where Wrapped: Codable & Hashable {}

extension Array: EmptyRepresentable where Element: Codable & Hashable {
    public static var none: [Element] { [] }
}

/// The compiler prefers these overloads for `@Omissible` properties.
extension KeyedDecodingContainer {
    public func decode<Value>(_: Omissible<Value>.Type, forKey key: Key) throws -> Omissible<Value> {
        Omissible(wrappedValue: try decodeIfPresent(Value.self, forKey: key) ?? Value.none)
    }

    public func decode<Element>(_: Omissible<[Element]>.Type, forKey key: Key) throws -> Omissible<[Element]> {
        Omissible(wrappedValue: contains(key) ? try decode([Element].self, forKey: key) : [])
    }
}

extension KeyedEncodingContainer {
    public mutating func encode<Value>(_ omissible: Omissible<Value>, forKey key: Key) throws {
        try encode(omissible.wrappedValue, forKey: key)
    }
}
