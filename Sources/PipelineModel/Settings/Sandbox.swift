/// The treatment of workers that this kernel can't confine in every way.
public enum Sandbox: String, Sendable, CaseIterable {
    /// They still work; the log names the missing parts.
    case best
    /// The daemon does not start.
    case required
}
