/// What decodes common JPEGs. libjpeg-turbo decodes all others.
public enum JPEGDecoder: String, Sendable, CaseIterable {
    /// Workers decode them themselves, in about half the time, to the same pixels.
    case own
    /// libjpeg-turbo decodes all JPEGs.
    case libjpeg
}
