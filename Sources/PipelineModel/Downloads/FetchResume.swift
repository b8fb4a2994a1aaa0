/// Where to resume an interrupted transfer, and which version of the file the server had.
public struct FetchResume: Codable, Sendable, Hashable {
    public var offset: Int64
    /// A strong entity tag, or else the Last-Modified date.
    public var validator: String
    /// Last-Modified, if `validator` is an entity tag.
    public var modified: String?
    /// The length of the whole file.
    public var total: Int64?

    public init(offset: Int64, validator: String, modified: String? = nil, total: Int64? = nil) {
        (self.offset, self.validator, self.modified, self.total) = (offset, validator, modified, total)
    }
}
