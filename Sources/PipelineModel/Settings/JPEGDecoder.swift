/// The decoder for common JPEGs. libjpeg-turbo always decodes the others.
public enum JPEGDecoder: String, Sendable, CaseIterable {
    /// The workers' own decoder. It takes about half the time, and makes the same pixels.
    case own
    /// libjpeg-turbo decodes all JPEGs.
    case libjpeg
}
