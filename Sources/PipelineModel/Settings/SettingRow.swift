/// A setting as a person sees it: what it is, what it would be, and who says so.
public struct SettingRow: Sendable, Hashable {
    public let section: String
    public let key: String
    /// As it would be written in a file.
    public let value: String
    public let `default`: String
    /// "default", or the name of the file it comes from.
    public let source: String
    public let help: String
    /// What may be written, in words.
    public let values: String
}
