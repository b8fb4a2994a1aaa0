/// The limits of a confined worker. All calls and files that it does not name are refused.
public struct Walls: Sendable {
    public var descriptors: Int
    /// Files and folders that may be read. Missing ones are left out.
    public var readable: [String]
    /// Whether it may connect to servers over TCP. It never listens.
    public var connects: Bool
    public var allowed: [CallRule]
    /// Calls that go with opening a readable file. Like opening, they are allowed only where Landlock denies everything
    /// else.
    public var opening: [CallRule]
    /// Calls that may fail without being remembered, because libraries try them and work without them.
    public var refused: [CallRule]
    /// Calls that end the process.
    public var deadly: [CallRule]

    public init(
        descriptors: Int, readable: [String] = [], connects: Bool = false, allowed: [CallRule],
        opening: [CallRule] = [], refused: [CallRule] = [], deadly: [CallRule]
    ) {
        (self.descriptors, self.readable, self.connects, self.allowed) = (descriptors, readable, connects, allowed)
        (self.opening, self.refused, self.deadly) = (opening, refused, deadly)
    }

    /// Makes each forbidden call fail and be named, also deadly ones. posix_spawn and system block all signals before
    /// the call that starts a process, among them the trap's. So the trap handles the change of the mask, and leaves
    /// its own signal out.
    public mutating func nameCalls() {
        deadly = []
        allowed.removeAll { $0.name == "rt_sigprocmask" }
    }
}
