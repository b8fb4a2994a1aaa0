public import PipelineModel

/// What the supervisor says to the fetch worker. Many transfers are under way at once, each with an ID.
public enum FetchOrder: Codable, Sendable {
    /// One descriptor travels beside it: the staging file, open for writing.
    case fetch(FetchRequest)
    /// It is answered by `cancelled`, unless another end came first.
    case cancel(Int)
}

public struct FetchRequest: Codable, Sendable {
    public var id: Int
    public var url: String
    /// What an earlier try has left in the staging file is good as far as this.
    public var resume: FetchResume?
    public var limits: FetchLimits

    public init(id: Int, url: String, resume: FetchResume?, limits: FetchLimits) {
        self.id = id
        self.url = url
        self.resume = resume
        self.limits = limits
    }
}

public struct FetchLimits: Codable, Sendable, Hashable {
    public var connectMilliseconds: Int
    public var stallMilliseconds: Int
    /// Bytes, decoded.
    public var maxSize: Int64
    public var redirects: Int
    /// Connections to one server at once, for all transfers.
    public var perHost: Int
    /// `host` or `host:port`, whose addresses may be private.
    public var allowPrivateHosts: [String]

    public init(
        connectMilliseconds: Int = 10_000, stallMilliseconds: Int = 30_000, maxSize: Int64 = 512 << 20,
        redirects: Int = 5, perHost: Int = 4, allowPrivateHosts: [String] = []
    ) {
        self.connectMilliseconds = connectMilliseconds
        self.stallMilliseconds = stallMilliseconds
        self.maxSize = maxSize
        self.redirects = redirects
        self.perHost = perHost
        self.allowPrivateHosts = allowPrivateHosts
    }

    /// The longest silence of a healthy worker about a transfer: by then it has connected, received something, or
    /// ended.
    public var longestSilence: Duration { .milliseconds(connectMilliseconds + stallMilliseconds) }
}

/// What the fetch worker says to the supervisor.
public enum FetchMessage: Codable, Sendable {
    /// Once, before anything else: what the kernel does not give of its confinement, and why.
    case hello(version: String, missing: [String])
    /// Sent now and then: when bytes have come, header included, and while the transfer waits for a connection. `total`
    /// is what the server has announced, if it has.
    case progress(id: Int, received: Int64, total: Int64?)
    case done(id: Int, FetchedFile)
    case failed(id: Int, FetchFailure)
    case cancelled(id: Int)
}

/// What has come, and what the server said of it. All of it is a stranger's word.
public struct FetchedFile: Codable, Sendable, Hashable {
    public var status: Int
    /// Of Content-Disposition, as it came.
    public var name: String?
    /// After all redirects.
    public var url: String
    /// Decoded, as they lie in the staging file.
    public var bytes: Int64

    public init(status: Int, name: String?, url: String, bytes: Int64) {
        self.status = status
        self.name = name
        self.url = url
        self.bytes = bytes
    }
}

public struct FetchFailure: Codable, Sendable, Hashable, Error {
    public enum Kind: String, Codable, Sendable {
        /// The URL, or what is there: the same again next time.
        case input
        /// The network, or the server, just now.
        case transient
        /// The disk of the staging file is full.
        case room
    }

    public var kind: Kind
    public var message: String
    /// What to do about it.
    public var advice: String?
    /// The server's answer, if one came.
    public var status: Int?
    /// Seconds after which the server wants to be asked again.
    public var retryAfter: Int?
    /// How the rest can be had.
    public var resume: FetchResume?
    /// The same for later, though nothing has come of it now.
    public var kept: FetchResume?

    public init(
        _ kind: Kind, _ message: String, advice: String? = nil, status: Int? = nil, retryAfter: Int? = nil,
        resume: FetchResume? = nil
    ) {
        self.kind = kind
        self.message = message
        self.advice = advice
        self.status = status
        self.retryAfter = retryAfter
        self.resume = resume
    }
}
