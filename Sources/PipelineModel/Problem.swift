/// A mistake in the configuration: `noir.recipe:7: unknown section [Outptu]; did you mean '[Output]'?`.
public struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    public var file: String
    public var line: Int?
    public var message: String

    public init(file: String, line: Int?, message: String) {
        (self.file, self.line, self.message) = (file, line, message)
    }

    public var description: String {
        if let line { "\(file):\(line): \(message)" } else { "\(file): \(message)" }
    }
}
