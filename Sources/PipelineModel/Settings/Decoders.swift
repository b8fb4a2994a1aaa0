/// The decoder for each format that workers can decode themselves.
public struct Decoders: Sendable, Hashable {
    public var jpeg = JPEGDecoder.own
    public var png = PNGDecoder.own

    public init() {}
}
