/// How many operations of a queue may run at once; `auto` adapts to the machine.
public enum QueueLimit: Sendable, Hashable, Codable, LosslessStringConvertible {
    case auto
    /// With a count of 0, running operations finish but no new operation starts.
    case count(Int)

    public static let range = 0...1024

    /// Parses `auto` or a count within `range`.
    public init?(_ text: String) {
        if text == "auto" {
            self = .auto
        } else if let count = Int(text), Self.range.contains(count) {
            self = .count(count)
        } else {
            return nil
        }
    }

    /// Nil for `auto`.
    public var count: Int? { if case .count(let count) = self { count } else { nil } }

    public var description: String { count.map(String.init) ?? "auto" }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let limit = QueueLimit(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text)' is not a queue limit")
        }
        self = limit
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
