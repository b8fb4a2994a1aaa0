/// A list that a daemon which was not restarted since pipelined was updated may not send yet: it is empty then.
@propertyWrapper
public struct AddedList<Element: Codable & Sendable & Hashable>: Codable, Sendable, Hashable {
    public var wrappedValue: [Element]

    public init(wrappedValue: [Element] = []) {
        self.wrappedValue = wrappedValue
    }

    public init(from decoder: any Decoder) throws {
        wrappedValue = try [Element](from: decoder)
    }

    public func encode(to encoder: any Encoder) throws {
        try wrappedValue.encode(to: encoder)
    }
}

extension KeyedDecodingContainer {
    /// Chosen by the compiler for `@AddedList` properties.
    public func decode<Element>(_ type: AddedList<Element>.Type, forKey key: Key) throws -> AddedList<Element> {
        try decodeIfPresent(type, forKey: key) ?? AddedList()
    }
}
