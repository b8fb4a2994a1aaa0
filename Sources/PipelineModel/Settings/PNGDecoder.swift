/// The decoder for common kinds of PNG. libvips always decodes the rarer kinds.
public enum PNGDecoder: String, Sendable, CaseIterable {
    /// The workers' own decoder. It takes about half as long as libvips, and makes the same pixels.
    case own
    /// libvips decodes all PNGs.
    case libvips
}
