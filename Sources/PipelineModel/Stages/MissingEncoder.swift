/// A format of `save` that this machine's libraries can't write.
public struct MissingEncoder: Codable, Sendable, Hashable {
    public var format: String
    /// How to get the encoder, as advice: "install …".
    public var remedy: String

    public init(format: String, remedy: String) {
        (self.format, self.remedy) = (format, remedy)
    }

    public var complaint: String { "format=\(format), whose encoder is missing on this machine" }
}
