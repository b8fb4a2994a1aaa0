/// A setting for display: its value, its default and its source.
public struct SettingRow: Sendable, Hashable {
    public let section: String
    public let key: String
    /// The current value, as written in a file.
    public var value: String
    public let `default`: String
    /// The name of the file that sets the value, or "default".
    public var source: String
    public let help: String
    /// The valid values, in words.
    public let values: String
}
