/// The decoder for common kinds of JPEG. libjpeg-turbo always decodes the rarer kinds.
public enum JPEGDecoder: String, Sendable, CaseIterable {
    /// The workers' own decoder. It takes 0.45 to 0.8 of libjpeg-turbo's time, and makes the same pixels.
    case own
    /// libjpeg-turbo decodes all JPEGs.
    case libjpeg
}
