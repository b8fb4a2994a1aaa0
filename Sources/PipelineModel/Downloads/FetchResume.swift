/// The place where a broken transfer goes on, and the proof that the server still has the same file.
public struct FetchResume: Codable, Sendable, Hashable {
    public var offset: Int64
    /// A strong entity tag, or a date of change.
    public var validator: String

    public init(offset: Int64, validator: String) { (self.offset, self.validator) = (offset, validator) }
}
