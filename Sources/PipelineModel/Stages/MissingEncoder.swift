/// A format of `save` that the libraries of a machine can't write.
public struct MissingEncoder: Codable, Sendable, Hashable {
    public var format: String
    /// What would bring it, as an advice: "install …".
    public var remedy: String

    public init(format: String, remedy: String) {
        (self.format, self.remedy) = (format, remedy)
    }

    public var complaint: String { "format=\(format), whose encoder is missing on this machine" }
}
