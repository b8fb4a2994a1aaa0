/// What happens if this kernel can't confine workers completely.
public enum Sandbox: String, Sendable, CaseIterable {
    /// Workers run anyway; the log names the missing protections.
    case best
    /// The daemon refuses to start.
    case required
}
