/// What a worker may do once it is confined. What is not named here it may not.
public struct Walls: Sendable {
    /// How many files and sockets may be open at once.
    public var descriptors: Int
    /// Files and folders that may be read; one that is not there is left out.
    public var readable: [String]
    /// Whether it may connect to others over TCP; nobody may be connected to.
    public var connects: Bool
    public var allowed: [CallRule]
    /// What goes with opening what is readable. They are allowed, as opening is, only where Landlock keeps all else shut.
    public var opening: [CallRule]
    /// These fail, as others do, but are nobody's fault: libraries try them, and do as well without.
    public var refused: [CallRule]
    /// These end the process.
    public var deadly: [CallRule]

    public init(
        descriptors: Int, readable: [String] = [], connects: Bool = false, allowed: [CallRule],
        opening: [CallRule] = [], refused: [CallRule] = [], deadly: [CallRule]
    ) {
        self.descriptors = descriptors
        self.readable = readable
        self.connects = connects
        self.allowed = allowed
        self.opening = opening
        self.refused = refused
        self.deadly = deadly
    }
}
