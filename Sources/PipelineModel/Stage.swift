/// A checked stage of a chain. `arguments` contains each value that the chain gives. For the other parameters, it
/// contains the default, if there is one.
public struct Stage: Codable, Sendable, Hashable {
    public var name: String
    public var arguments: [String: ArgumentValue]
    /// The SHA-256 of each file that the arguments name, by parameter; nil if they name none. Because of the hashes, a
    /// stage differs from the same stage with an older version of a file.
    public var files: [String: String]?

    public init(name: String, arguments: [String: ArgumentValue] = [:]) {
        (self.name, self.arguments) = (name, arguments)
    }

    var teeName: String? { name == BuiltInStage.tee.description.name ? arguments["name"]?.text : nil }
    var isBarrier: Bool { name == BuiltInStage.barrier.description.name }
}

extension Sequence<Stage> {
    /// The hashes of all files that the stages need, each once.
    public var fileDigests: [String] { Set(flatMap { $0.files?.values.map(\.self) ?? [] }).sorted() }
}

/// The value of a parameter. Booleans are the numbers 0 and 1; choices, colours (`#rrggbb`) and texts are text.
public enum ArgumentValue: Codable, Sendable, Hashable {
    case number(Double)
    case text(String)

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        }
    }

    public var number: Double? {
        if case .number(let number) = self { number } else { nil }
    }

    public var text: String? {
        if case .text(let text) = self { text } else { nil }
    }
}
