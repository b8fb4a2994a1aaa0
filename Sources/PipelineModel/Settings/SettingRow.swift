/// A setting as a person sees it: its value, its default, and its source.
public struct SettingRow: Sendable, Hashable {
    public let section: String
    public let key: String
    /// The value as one writes it in a file.
    public let value: String
    public let `default`: String
    /// "default", or the name of the file that sets it.
    public let source: String
    public let help: String
    /// The possible values, in words.
    public let values: String
}
