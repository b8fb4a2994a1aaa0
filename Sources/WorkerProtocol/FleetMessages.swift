public import PipelineModel

/// Messages from the supervisor to the fleet's process. Descriptors travel beside the message.
public enum FleetOrder: Codable, Sendable {
    /// Sent once, before anything else: which fleet to join. Its descriptors, open for reading, are the credentials, and
    /// the authority's certificate; none when the servers ask for none.
    case join(FleetMembership)
    /// The filters that come from plugins, each with what tells one version of it from another. Sent again when they have
    /// changed.
    case filters([String: String])
    /// Offers a picture to the other nodes. Its descriptors are the sources, open for reading, and a file for each
    /// output, open for reading and writing. One of `made`, `failed`, `returned` and `untaken` is the answer, once. With
    /// `only`, no other node is asked.
    case lend(LentPicture, only: String? = nil)
    /// The picture is not lent any more, whoever works on it. The answer is `returned`, unless another came first.
    case takeBack(Int)
    /// So many pictures of other nodes may be here at once.
    case take(Int)
    /// The answer to `offered`: an empty file for each source, open for reading and writing.
    case accept(Int)
    /// The answer to `offered`: there is no place for it now. Nothing more is said of it.
    case putOff(Int)
    /// The answer to `offered`, or later, before `rendered` and `failed`: another node may have it. Nothing more is said of it.
    case refuse(Int, reason: String)
    /// The supervisor works on what is taken: their origins are told. Without it a picture goes to another node.
    case showLife
    /// How far a taken picture is.
    case progress(Int, done: Int64, total: Int64)
    /// A taken picture is done, and what was downloaded if it had a URL. Its descriptors are the results, open for reading.
    case rendered(Int, PictureHeader, [RenderedOutput], FetchedFile?)
    /// A taken picture has failed.
    case failed(Int, WorkerFailure)
    /// Tells another node to do something. `answered` is the answer.
    case command(Int, NodeCommand, node: String)
    /// The answer to `commanded`.
    case obeyed(Int, NodeReport)
    /// Asks for a sign of life. The answer is `pong`.
    case ping
}

/// Who this node is, and where the others meet.
public struct FleetMembership: Codable, Sendable, Hashable {
    /// `nats://host:port` or `tls://host:port`.
    public var servers: [String]
    /// The node's name in the fleet: small letters, digits and hyphens.
    public var name: String
    /// A node that has a picture of this one, and has shown no life for so long, makes room for another.
    public var patienceMilliseconds: Int

    public init(servers: [String], name: String, patienceMilliseconds: Int = 30_000) {
        (self.servers, self.name, self.patienceMilliseconds) = (servers, name, patienceMilliseconds)
    }
}

/// A picture that other nodes may render. What it needs is in here: recipes are not known elsewhere.
public struct LentPicture: Codable, Sendable {
    /// Unique as long as the process lives.
    public var id: Int
    /// For messages.
    public var name: String
    public var priority: Priority
    public var outputs: [RenderOutput]
    /// The filters that a node needs to render it, as they are here.
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
    /// The origin has them: so many of each source.
    case sources([Int64])
    /// Nobody has them yet. The node that takes the picture downloads them, under its own rules, and at most so many.
    case url(String, most: Int64)

    /// The bytes of each source that the origin has.
    public var sizes: [Int64] { if case .sources(let sizes) = self { sizes } else { [] } }
}

/// The origin's limits; a node that has stricter ones keeps to those.
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
    /// The server in use, nil while there is none; and why there is none, or why it is not used, and what to do. Sent when it
    /// has changed.
    case line(server: String?, problem: String?)
    /// What another node has; it is silent, or was heard of lately. Sent when it has changed.
    case node(FleetNode, isSilent: Bool)
    /// A node has been silent for so long that it is none any more.
    case forgotten(node: String)

    /// A node has begun to work on a lent picture; nil: it has given it up, and nobody works on it.
    case begun(Int, node: String?)
    case progress(Int, done: Int64, total: Int64)
    /// The results are in the files that came with `lend`, as the node has sent them, with what it has downloaded.
    case made(Int, PictureHeader, [RenderedOutput], FetchedFile?)
    /// The node's word about a lent picture. Its message names the node.
    case failed(Int, WorkerFailure)
    /// Nobody works on a lent picture any more.
    case returned(Int)
    /// The only node that was asked does not take the picture.
    case untaken(Int, Untaken)

    /// Another node's picture may be taken. The answer is `accept`, `putOff` or `refuse`.
    case offered(Int, LentPicture, origin: String)
    /// The sources of a taken picture are there, if it has any: it may be downloaded, or rendered.
    case fetched(Int)
    /// Nobody wants a taken picture any more. Nothing more is said of it.
    case withdrawn(Int)
    /// The origin has what was rendered, or does not want it. Nothing more is said of it.
    case delivered(Int)

    /// What the node says to a command; nil: it is silent.
    case answered(Int, NodeReport?)
    /// Another node tells this one to do something. The answer is `obeyed`.
    case commanded(Int, NodeCommand, by: String)
    case pong
}

/// Why the only node that was asked does not take a picture.
public enum Untaken: Codable, Sendable, Hashable {
    /// It does not answer.
    case silent
    /// It says no, mostly with a reason.
    case refused(String?)
}

/// What a node says of itself.
public struct FleetNode: Codable, Sendable, Hashable {
    public var name: String
    public var version: String
    /// The pictures of others that it may have at once, and has.
    public var places: Int
    public var taken: Int
    /// The pictures that it has lent.
    public var lent: Int
    /// As in `FleetOrder.filters`.
    public var filters: [String: String]

    public init(name: String, version: String, places: Int, taken: Int, lent: Int, filters: [String: String]) {
        (self.name, self.version, self.places) = (name, version, places)
        (self.taken, self.lent, self.filters) = (taken, lent, filters)
    }

    /// Whether it makes of a picture what a node of this version with these filters makes of it.
    public func equals(_ version: String, _ filters: [String: String]) -> Bool {
        self.version == version && filters.allSatisfy { self.filters[$0] == $1 }
    }
}
