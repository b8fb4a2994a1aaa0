public struct ConfigurationText: Sendable, Hashable {
    /// Its path, as messages show it.
    public var name: String
    public var text: String

    public init(name: String, text: String) {
        (self.name, self.text) = (name, text)
    }
}
