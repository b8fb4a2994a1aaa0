/// The limits of a confined worker. Calls and files that are not named here are refused.
public struct Walls: Sendable {
    public var descriptors: Int
    /// Files and folders that may be read; a missing one is left out.
    public var readable: [String]
    /// Whether it may connect to others over TCP. It never listens.
    public var connects: Bool
    public var allowed: [CallRule]
    /// Calls that go with opening a readable file. Like opening, they are allowed only where Landlock keeps all else
    /// shut.
    public var opening: [CallRule]
    /// Calls that fail without being a fault: libraries try them, and work without them.
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

    /// Lets each call that is not allowed fail, and be named. posix_spawn and system block all signals, that of the trap
    /// among them, before the call that starts a process; the trap itself changes the mask then, and leaves its own signal out.
    public mutating func nameCalls() {
        deadly = []
        allowed.removeAll { $0.name == "rt_sigprocmask" }
    }
}
