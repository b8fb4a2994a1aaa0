/// The naming rule of results, from `Name=`: literal text and fields, with `/` between folders. It describes a path
/// relative to the outbox, without suffix; the result's format determines the suffix.
public struct NameTemplate: Sendable, Hashable, CustomStringConvertible {
    enum Part: Hashable {
        case text(String)
        /// A field without parameters.
        case field(NameField)
        case date(DateFormat)
        case counter(digits: Int)
        case hash(digits: Int)

        var field: NameField? {
            switch self {
            case .text: nil
            case .field(let field): field
            case .date: .date
            case .counter: .counter
            case .hash: .hash
            }
        }
    }

    /// Allowed numbers of digits in `{counter:4}` and `{hash:8}`.
    static let counters = 1...9
    static let hashes = 4...64

    public let text: String
    /// The components of the path: the folders and the file name, each as a list of parts.
    let components: [[Part]]

    public init(_ text: String) throws(Refusal) {
        self.text = text
        components = try NameScanner.components(of: text)
    }

    public var description: String { text }

    public func asks(for field: NameField) -> Bool { components.contains { $0.contains { $0.field == field } } }

    /// Whether the name contains the size or the hash of the rendered result.
    public var needsResult: Bool { [.width, .height, .hash].contains(where: asks) }
}

/// A template is encoded as its text, and decoding checks that text again.
extension NameTemplate: Codable {
    public init(from decoder: any Decoder) throws {
        try self.init(try decoder.singleValueContainer().decode(String.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension SettingType<NameTemplate?> {
    static let name = Self(
        values: "texts and fields, such as {date:%Y}/{stem}-{output}"
    ) { text, _ throws(Refusal) in
        try NameTemplate(text)
    } write: {
        $0?.text ?? ""
    }
}
