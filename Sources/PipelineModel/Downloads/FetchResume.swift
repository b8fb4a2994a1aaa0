/// Where to resume an interrupted transfer, and how to recognise that the server still has the same version of the
/// file.
public struct FetchResume: Codable, Sendable, Hashable {
    public var offset: Int64
    /// The file's strong entity tag, or else its Last-Modified date.
    public var validator: String
    /// The Last-Modified date, if `validator` is an entity tag.
    public var modified: String?
    /// The length of the whole file.
    public var total: Int64?

    public init(offset: Int64, validator: String, modified: String? = nil, total: Int64? = nil) {
        (self.offset, self.validator, self.modified, self.total) = (offset, validator, modified, total)
    }
}
