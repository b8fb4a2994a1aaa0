public import PipelineModel

/// Messages from the supervisor to the fleet process. Some messages carry descriptors.
public enum FleetOrder: Codable, Sendable {
    /// Sent once, as the first message: the fleet to join. The descriptors, open for reading, are the credentials and
    /// the authority's certificate. If the servers require no credentials, the message carries no descriptors.
    case join(FleetMembership)
    /// This node's plugin filters by name, each with its version or digest, and the files that these filters use, by
    /// digest. Sent again after each change.
    case filters([String: String])
    /// Offers a picture to the other nodes, or only to the node `only`. The descriptors are the sources, open for
    /// reading, and a file for each output, open for reading and writing. Answered exactly once, by `made`, `failed`,
    /// `returned` or `untaken`.
    case lend(LentPicture, only: String? = nil)
    /// Ends a loan, no matter which node has the picture. The answer is `returned`, unless the process has sent another
    /// answer before.
    case takeBack(Int)
    /// Sets how many pictures of other nodes this node accepts at once.
    case take(Int)
    /// An answer to `offered`: this node accepts the picture. The descriptors are an empty file for each source, open
    /// for reading and writing.
    case accept(Int)
    /// An answer to `offered`: this node has no free slot now. No message about the picture follows.
    case putOff(Int)
    /// An answer to `offered`, or sent later instead of `rendered` or `failed`: this node leaves the picture to other
    /// nodes. No message about the picture follows.
    case refuse(Int, reason: String)
    /// Sends a sign of life to the origin of each accepted picture: this node is still working on the picture. An
    /// origin that gets no sign of life lends its picture to another node.
    case showLife
    /// The progress of an accepted picture.
    case progress(Int, done: Int64, total: Int64)
    /// An accepted picture is rendered. The `FetchedFile` describes the download, if the picture had a URL. The
    /// descriptors are the results, open for reading.
    case rendered(Int, PictureHeader, [RenderedOutput], FetchedFile?)
    /// An accepted picture has failed.
    case failed(Int, WorkerFailure)
    /// Sends a command to another node. The answer is `answered`.
    case command(Int, NodeCommand, node: String)
    /// The answer to `commanded`.
    case obeyed(Int, NodeReport)
    /// Checks that the process responds. The answer is `pong`.
    case ping
}

/// This node's name in the fleet, and the servers that connect the nodes.
public struct FleetMembership: Codable, Sendable, Hashable {
    /// The servers' URLs: `nats://host:port` or `tls://host:port`.
    public var servers: [String]
    /// The node's name in the fleet: small letters, digits and hyphens.
    public var name: String
    /// Maximum silence of a node that has one of this node's pictures. After that, this node lends the picture to
    /// another node.
    public var patienceMilliseconds: Int

    public init(servers: [String], name: String, patienceMilliseconds: Int = 30_000) {
        (self.servers, self.name, self.patienceMilliseconds) = (servers, name, patienceMilliseconds)
    }
}

/// A picture that other nodes may render. Contains all data that those nodes need, because they don't know this node's
/// recipes.
public struct LentPicture: Codable, Sendable {
    /// Unique while the origin's daemon runs.
    public var id: Int
    /// The picture's name, for messages only.
    public var name: String
    public var priority: Priority
    public var outputs: [RenderOutput]
    /// The filters and files that the picture needs from plugins. The key of a filter is its name, and the value is its
    /// version or digest at the origin. The key of a file that these filters use is its digest, and the value is
    /// `FleetNode.file`.
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

/// Where a node gets the bytes of a lent picture.
public enum LentBytes: Codable, Sendable, Hashable {
    /// The origin sends the sources. The numbers are their sizes in bytes.
    case sources([Int64])
    /// The node that accepts the picture downloads it from this URL under its own settings, but reads at most `most`
    /// bytes.
    case url(String, most: Int64)

    /// The sizes of the sources that the origin sends; empty for a URL.
    public var sizes: [Int64] { if case .sources(let sizes) = self { sizes } else { [] } }
}

/// The origin's limits. A node applies its own limits where these are stricter.
public struct LentLimits: Codable, Sendable, Hashable {
    public var maxPixels: Int64
    /// Maximum size of a PNG's texts and profile, in bytes.
    public var maxTexts: Int64
    /// Maximum size of a result, in bytes.
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

/// Messages from the fleet process to the supervisor.
public enum FleetMessage: Codable, Sendable {
    /// Sent once, as the first message. `missing` lists the parts of the confinement that the kernel lacks, and why.
    case hello(version: String, missing: [String])
    /// The state of the connection, sent at each change. `server` is the server in use; nil without a connection.
    /// `problem` says what is wrong with the connection and how to fix it; nil if there is no problem.
    case line(server: String?, problem: String?)
    /// Another node's description, and whether the node is silent. Sent at each change.
    case node(FleetNode, isSilent: Bool)
    /// The process has removed a node from its list, because the node has been silent for a long time.
    case forgotten(node: String)

    /// A node has started to render a lent picture. If `node` is nil, the node that had started has given up the
    /// picture, or can't be reached any more.
    case begun(Int, node: String?)
    case progress(Int, done: Int64, total: Int64)
    /// A lent picture is rendered. The results are in the files that were sent with `lend`. The `FetchedFile` describes
    /// the node's download, if the picture had a URL.
    case made(Int, PictureHeader, [RenderedOutput], FetchedFile?)
    /// A node has failed to render a lent picture. The failure's message names the node.
    case failed(Int, WorkerFailure)
    /// No node works on a lent picture any more, so this node has to render it.
    case returned(Int)
    /// The only node to which the picture was offered does not take it.
    case untaken(Int, RefusedOffer)

    /// Another node offers a picture. The answer is `accept`, `putOff` or `refuse`.
    case offered(Int, LentPicture, origin: String)
    /// An accepted picture is ready: its sources have arrived and can be rendered, or it was lent as a URL and can be
    /// downloaded.
    case fetched(Int)
    /// The origin no longer wants an accepted picture, or the fleet process has given the picture up. No message about
    /// the picture follows.
    case withdrawn(Int)
    /// The origin has received the results or the failure of an accepted picture, or does not want them. No message
    /// about the picture follows.
    case delivered(Int)

    /// A node's report on a command; nil means that the node is silent.
    case answered(Int, NodeReport?)
    /// Another node sends a command. The answer is `obeyed`.
    case commanded(Int, NodeCommand, by: String)
    case pong
}

/// Why the only node to which a picture was offered does not take it.
public enum RefusedOffer: Codable, Sendable, Hashable {
    /// The node does not answer.
    case silent
    /// The node refuses the picture, usually with a reason.
    case refused(String?)
}

/// A node's description of itself, which it sends to all other nodes.
public struct FleetNode: Codable, Sendable, Hashable {
    public var name: String
    public var version: String
    /// Maximum number of other nodes' pictures that the node accepts at once; `taken` is the current number.
    public var places: Int
    public var taken: Int
    /// The number of pictures that the node has lent to other nodes.
    public var lent: Int
    /// The versions of the node's filters, as in `FleetOrder.filters`.
    public var filters: [String: String]
    /// The value in `filters` that marks an entry as a file that filters use, and not as a filter. The key of such an
    /// entry is the SHA-256 of the file.
    public static let file = "file"

    public init(name: String, version: String, places: Int, taken: Int, lent: Int, filters: [String: String]) {
        (self.name, self.version, self.places) = (name, version, places)
        (self.taken, self.lent, self.filters) = (taken, lent, filters)
    }

    /// Whether the node renders exactly as a node of this version with these filters would.
    public func equals(_ version: String, _ filters: [String: String]) -> Bool {
        self.version == version && filters.allSatisfy { self.filters[$0] == $1 }
    }
}
