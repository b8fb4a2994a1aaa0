import CPipelinePlugin

/// A filter's parameter, written after the filter's name in a chain: `warm amount=0.5`. The property's name is the
/// parameter's name; `blurWidth` becomes `blur-width`. A chain must give each parameter that has no default.
@propertyWrapper
public struct Parameter<Value: Sendable>: Sendable {
    let description: ParameterDescription
    private let convert: @Sendable (Argument) -> Value?
    private let stored: Stored<Value>

    public var wrappedValue: Value {
        guard let value = stored.value else {
            preconditionFailure("a filter's parameters have values only in apply(to:)")
        }
        return value
    }

    init(
        _ description: ParameterDescription, _ value: Value?, _ convert: @escaping @Sendable (Argument) -> Value?
    ) {
        (self.description, self.convert) = (description, convert)
        stored = Stored(value)
    }
}

extension Parameter where Value == Double {
    public init(wrappedValue: Double, _ help: String, range: ClosedRange<Double>, unit: String? = nil) {
        self.init(.number(range, help, unit, default: wrappedValue), wrappedValue) { $0.number }
    }

    public init(_ help: String, range: ClosedRange<Double>, unit: String? = nil) {
        self.init(.number(range, help, unit, default: nil), nil) { $0.number }
    }
}

extension Parameter where Value == Int {
    public init(wrappedValue: Int, _ help: String, range: ClosedRange<Int>, unit: String? = nil) {
        self.init(.integer(range, help, unit, default: wrappedValue), wrappedValue) { Int($0.number) }
    }

    public init(_ help: String, range: ClosedRange<Int>, unit: String? = nil) {
        self.init(.integer(range, help, unit, default: nil), nil) { Int($0.number) }
    }
}

extension Parameter where Value == Bool {
    public init(wrappedValue: Bool, _ help: String) {
        self.init(.init(PIPELINE_BOOLEAN, help, default: wrappedValue ? "yes" : "no"), wrappedValue) { $0.number != 0 }
    }
}

extension Parameter where Value == String {
    public init(wrappedValue: String, _ help: String) {
        self.init(.init(PIPELINE_TEXT, help, default: wrappedValue), wrappedValue) { $0.text }
    }

    public init(_ help: String) {
        self.init(.init(PIPELINE_TEXT, help, default: nil), nil) { $0.text }
    }
}

extension Parameter where Value == Colour {
    public init(wrappedValue: Colour, _ help: String) {
        self.init(.init(PIPELINE_COLOUR, help, default: wrappedValue.description), wrappedValue) {
            $0.text.flatMap(Colour.init)
        }
    }

    public init(_ help: String) {
        self.init(.init(PIPELINE_COLOUR, help, default: nil), nil) { $0.text.flatMap(Colour.init) }
    }
}

/// A file in the recipes' folder. The property is nil if the chain names no file.
extension Parameter where Value == File? {
    /// `endings` are the endings that the file's name may have, such as `.cube`.
    public init(_ help: String, endings: [String]) {
        self.init(.file(endings, help, default: ""), .some(nil)) { argument in
            .some(argument.bytes.map { File(name: argument.text ?? "", bytes: $0) })
        }
    }
}

extension Parameter where Value == File {
    public init(_ help: String, endings: [String]) {
        self.init(.file(endings, help, default: nil), nil) { argument in
            argument.bytes.map { File(name: argument.text ?? "", bytes: $0) }
        }
    }
}

/// A file in the recipes' folder, as the daemon has read it.
public struct File: Sendable, Hashable {
    public var name: String
    public var bytes: [UInt8]

    public init(name: String, bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }
}

/// A choice among several words, declared as an enum with `String` raw values.
extension Parameter where Value: RawRepresentable<String> & CaseIterable {
    public init(wrappedValue: Value, _ help: String) {
        self.init(.choice(Value.self, help, default: wrappedValue), wrappedValue) { $0.text.flatMap(Value.init) }
    }

    public init(_ help: String) {
        self.init(.choice(Value.self, help, default: nil), nil) { $0.text.flatMap(Value.init) }
    }
}

/// An sRGB colour; each component is 0 to 255.
public struct Colour: Sendable, Hashable, CustomStringConvertible {
    public var red, green, blue: Double

    public init(red: Double, green: Double, blue: Double) { (self.red, self.green, self.blue) = (red, green, blue) }

    /// Parses a colour as written in a chain: `#rrggbb`.
    public init?(_ text: String) {
        guard text.count == 7, text.first == "#", let value = UInt32(text.dropFirst(), radix: 16) else { return nil }
        self.init(red: Double(value >> 16), green: Double(value >> 8 & 255), blue: Double(value & 255))
    }

    public var bands: [Double] { [red, green, blue] }

    public var description: String {
        "#"
            + bands.map { part in
                let digits = String(Int(part), radix: 16)
                return digits.count == 1 ? "0" + digits : digits
            }.joined()
    }
}

extension Parameter: AnyParameter {
    func take(_ argument: Argument) throws {
        guard let value = convert(argument) else { throw FilterError("'\(argument)' does not fit its parameter") }
        stored.value = value
    }
}
