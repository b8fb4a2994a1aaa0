public struct ConfigurationText: Sendable, Hashable {
    /// The path, as shown in messages.
    public var name: String
    public var text: String

    public init(name: String, text: String) {
        (self.name, self.text) = (name, text)
    }
}
