public import PipelineModel

/// Messages from the supervisor to the fleet's process. Descriptors travel beside the message.
public enum FleetOrder: Codable, Sendable {
    /// Sent once, before anything else: the fleet to join. The descriptors, open for reading, are the credentials and
    /// the authority's certificate; there are none if the servers ask for no credentials.
    case join(FleetMembership)
    /// The filters that come from plugins, each with its version or digest. Sent again when they have changed.
    case filters([String: String])
    /// Offers a picture to the other nodes, or only to the node `only`. The descriptors are the sources, open for
    /// reading, and a file for each output, open for reading and writing. The only answer is `made`, `failed`,
    /// `returned` or `untaken`.
    case lend(LentPicture, only: String? = nil)
    /// Ends a loan, whichever node has the picture. The answer is `returned`, unless another answer came first.
    case takeBack(Int)
    /// Maximum pictures of other nodes here at once.
    case take(Int)
    /// The answer to `offered`: an empty file for each source, open for reading and writing.
    case accept(Int)
    /// The answer to `offered` if no place is free now. No message about the picture follows.
    case putOff(Int)
    /// The answer to `offered`, or later, before `rendered` and `failed`: another node may have the picture. No message
    /// about it follows.
    case refuse(Int, reason: String)
    /// Tells the origins that the supervisor works on their pictures. Without this, an origin lends a picture to
    /// another node.
    case showLife
    /// The progress of a taken picture.
    case progress(Int, done: Int64, total: Int64)
    /// A taken picture is done; the file is the download if it had a URL. The descriptors are the results, open for
    /// reading.
    case rendered(Int, PictureHeader, [RenderedOutput], FetchedFile?)
    /// A taken picture has failed.
    case failed(Int, WorkerFailure)
    /// Sends a command to another node. The answer is `answered`.
    case command(Int, NodeCommand, node: String)
    /// The answer to `commanded`.
    case obeyed(Int, NodeReport)
    /// Asks for a sign of life. The answer is `pong`.
    case ping
}

/// This node's name, and the servers where the fleet meets.
public struct FleetMembership: Codable, Sendable, Hashable {
    /// `nats://host:port` or `tls://host:port`.
    public var servers: [String]
    /// The node's name in the fleet: small letters, digits and hyphens.
    public var name: String
    /// A node that has a picture of this node and is silent for so long loses the picture to another.
    public var patienceMilliseconds: Int

    public init(servers: [String], name: String, patienceMilliseconds: Int = 30_000) {
        (self.servers, self.name, self.patienceMilliseconds) = (servers, name, patienceMilliseconds)
    }
}

/// A picture that other nodes may render. It holds all that they need, since they don't know this node's recipes.
public struct LentPicture: Codable, Sendable {
    /// Unique for the life of the process.
    public var id: Int
    /// For messages.
    public var name: String
    public var priority: Priority
    public var outputs: [RenderOutput]
    /// The filters that a node needs to render it, in the versions of the origin.
    public var filters: [String: String]
    public var limits: LentLimits
    public var bytes: LentBytes

    public init(
        id: Int, name: String, priority: Priority, outputs: [RenderOutput], filters: [String: String],
        limits: LentLimits, bytes: LentBytes
    ) {
        (self.id, self.name, self.priority, self.outputs) = (id, name, priority, outputs)
        (self.filters, self.limits, self.bytes) = (filters, limits, bytes)
    }
}

/// Where the bytes of a lent picture are.
public enum LentBytes: Codable, Sendable, Hashable {
    /// The origin has them; the size of each source.
    case sources([Int64])
    /// They must be downloaded. The node that takes the picture does so under its own rules, up to `most` bytes.
    case url(String, most: Int64)

    /// The sizes of the sources that the origin has.
    public var sizes: [Int64] { if case .sources(let sizes) = self { sizes } else { [] } }
}

/// The origin's limits. A node applies its own limits where these are stricter.
public struct LentLimits: Codable, Sendable, Hashable {
    public var maxPixels: Int64
    /// Bytes.
    public var maxTexts: Int64
    /// Bytes.
    public var maxResult: Int64
    public var onTruncated: TruncatedPolicy
    public var raw: RawPolicy

    public init(
        maxPixels: Int64, maxTexts: Int64 = Settings.usualTexts, maxResult: Int64, onTruncated: TruncatedPolicy,
        raw: RawPolicy
    ) {
        (self.maxPixels, self.maxTexts, self.maxResult) = (maxPixels, maxTexts, maxResult)
        (self.onTruncated, self.raw) = (onTruncated, raw)
    }
}

/// Messages from the fleet's process to the supervisor.
public enum FleetMessage: Codable, Sendable {
    /// Sent once, before anything else: the parts of the confinement that the kernel lacks, and why.
    case hello(version: String, missing: [String])
    /// The server in use, nil if there is no line; and the line's problem with its remedy, if there is a problem. Sent
    /// at each change.
    case line(server: String?, problem: String?)
    /// Another node's description, and whether it is silent. Sent at each change.
    case node(FleetNode, isSilent: Bool)
    /// A node has been silent for so long that it is forgotten.
    case forgotten(node: String)

    /// A node has begun a lent picture; nil means that its node has given it up, or is lost.
    case begun(Int, node: String?)
    case progress(Int, done: Int64, total: Int64)
    /// The results are in the files that came with `lend`. The file is the node's download, if the picture had a URL.
    case made(Int, PictureHeader, [RenderedOutput], FetchedFile?)
    /// A node's failure to render a lent picture. Its message names the node.
    case failed(Int, WorkerFailure)
    /// No node works on a lent picture any more.
    case returned(Int)
    /// The only node that was asked does not take the picture.
    case untaken(Int, Untaken)

    /// Offers a picture of another node. The answer is `accept`, `putOff` or `refuse`.
    case offered(Int, LentPicture, origin: String)
    /// The sources of a taken picture have come, if it has any: it can be rendered, or downloaded.
    case fetched(Int)
    /// A taken picture is no longer wanted, or the fleet's process has given it up. No message about it follows.
    case withdrawn(Int)
    /// The origin has the result or the failure, or does not want it. No message about the picture follows.
    case delivered(Int)

    /// A node's report on a command; nil means that the node is silent.
    case answered(Int, NodeReport?)
    /// Another node sends a command. The answer is `obeyed`.
    case commanded(Int, NodeCommand, by: String)
    case pong
}

/// Why the only node that was asked does not take a picture.
public enum Untaken: Codable, Sendable, Hashable {
    /// It does not answer.
    case silent
    /// It refuses, usually with a reason.
    case refused(String?)
}

/// A node's description of itself.
public struct FleetNode: Codable, Sendable, Hashable {
    public var name: String
    public var version: String
    /// Maximum pictures of other nodes at once; `taken` is their present number.
    public var places: Int
    public var taken: Int
    /// The number of pictures that it has lent.
    public var lent: Int
    /// As in `FleetOrder.filters`.
    public var filters: [String: String]

    public init(name: String, version: String, places: Int, taken: Int, lent: Int, filters: [String: String]) {
        (self.name, self.version, self.places) = (name, version, places)
        (self.taken, self.lent, self.filters) = (taken, lent, filters)
    }

    /// Whether it renders as a node of this version with these filters would.
    public func equals(_ version: String, _ filters: [String: String]) -> Bool {
        self.version == version && filters.allSatisfy { self.filters[$0] == $1 }
    }
}
