/// The permissions of a confined worker. All other calls and files are refused.
public struct Walls: Sendable {
    public var descriptors: Int
    /// Files and folders that may be read. Missing files are ignored.
    public var readable: [String]
    /// Whether the worker may connect to servers over TCP. No worker may listen.
    public var connects: Bool
    public var allowed: [CallRule]
    /// Calls for opening readable files. They are allowed only if Landlock is active and denies all other files.
    public var opening: [CallRule]
    /// Calls that fail without being recorded, because libraries try them and work without them.
    public var refused: [CallRule]
    /// Calls that kill the process.
    public var deadly: [CallRule]

    public init(
        descriptors: Int, readable: [String] = [], connects: Bool = false, allowed: [CallRule],
        opening: [CallRule] = [], refused: [CallRule] = [], deadly: [CallRule]
    ) {
        (self.descriptors, self.readable, self.connects, self.allowed) = (descriptors, readable, connects, allowed)
        (self.opening, self.refused, self.deadly) = (opening, refused, deadly)
    }

    /// Makes every forbidden call fail and be reported, including deadly calls.
    ///
    /// `posix_spawn` and `system` block all signals before they start a process. A blocked trap signal would kill the
    /// worker before the call is reported. So `rt_sigprocmask` is trapped, too, and the trap's handler changes the mask
    /// without blocking its own signal.
    public mutating func nameCalls() {
        deadly = []
        allowed.removeAll { $0.name == "rt_sigprocmask" }
    }
}
