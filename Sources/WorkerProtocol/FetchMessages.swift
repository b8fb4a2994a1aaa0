public import PipelineModel

/// Messages from the supervisor to the fetch worker. Many transfers are in flight at once, each with an ID.
public enum FetchOrder: Codable, Sendable {
    /// Starts a transfer. The message carries one descriptor: the staging file, open for writing.
    case fetch(FetchRequest)
    /// Stops a transfer. The answer is `cancelled`, unless the transfer has finished or failed before.
    case cancel(Int)
}

public struct FetchRequest: Codable, Sendable {
    public var id: Int
    public var url: String
    /// Where to continue an earlier attempt. The staging file already contains the bytes before that position, which
    /// stay unchanged.
    public var resume: FetchResume?
    public var limits: FetchLimits
    public var login: FetchLogin?

    public init(id: Int, url: String, resume: FetchResume?, limits: FetchLimits, login: FetchLogin? = nil) {
        (self.id, self.url, self.resume, self.limits, self.login) = (id, url, resume, limits, login)
    }
}

/// The login of one server. The worker sends it to no other server, even if a redirect leads there.
public struct FetchLogin: Codable, Sendable, Hashable {
    /// `host` for the scheme's standard port, or `host:port`; in lower case.
    public var host: String
    /// Header fields of the request: `Name: value`.
    public var headers: [String]
    /// Whether the login may be sent over plain http.
    public var allowsPlainHTTP: Bool

    public init(host: String, headers: [String], allowsPlainHTTP: Bool) {
        (self.host, self.headers, self.allowsPlainHTTP) = (host, headers, allowsPlainHTTP)
    }
}

public struct FetchLimits: Codable, Sendable, Hashable {
    public var connectMilliseconds: Int
    public var stallMilliseconds: Int
    /// Maximum size of a download in bytes, after decompression.
    public var maxSize: Int64
    public var redirects: Int
    /// Maximum number of connections to one server, for all transfers together.
    public var perHost: Int
    /// Servers whose addresses may be private: `host` or `host:port`.
    public var allowPrivateHosts: [String]

    public init(
        connectMilliseconds: Int = 10_000, stallMilliseconds: Int = 30_000, maxSize: Int64 = 512 << 20,
        redirects: Int = 5, perHost: Int = 4, allowPrivateHosts: [String] = []
    ) {
        (self.connectMilliseconds, self.stallMilliseconds) = (connectMilliseconds, stallMilliseconds)
        (self.maxSize, self.redirects, self.perHost) = (maxSize, redirects, perHost)
        self.allowPrivateHosts = allowPrivateHosts
    }

    /// The longest time in which a healthy worker sends no message about a transfer. Within this time, the transfer
    /// connects, receives bytes, finishes or fails.
    public var longestSilence: Duration { .milliseconds(connectMilliseconds + stallMilliseconds) }
}

/// Messages from the fetch worker to the supervisor.
public enum FetchMessage: Codable, Sendable {
    /// Sent once, as the first message. `missing` lists the parts of the confinement that the kernel lacks, and why.
    case hello(version: String, missing: [String])
    /// Sent repeatedly when bytes arrive, including header bytes, and while the transfer waits for a connection.
    /// `total` is the length that the server announced, if any. `kept` is the data with which a retry can resume the
    /// transfer, if that is possible.
    case progress(id: Int, received: Int64, total: Int64?, kept: FetchResume?)
    case done(id: Int, FetchedFile)
    case failed(id: Int, FetchFailure)
    case cancelled(id: Int)
}

/// The downloaded file, as the server described it. Every field may be hostile.
public struct FetchedFile: Codable, Sendable, Hashable {
    /// The name of the stage in the failure of a download.
    public static let stage = "download"

    public var status: Int
    /// The name from Content-Disposition, unchanged.
    public var name: String?
    public var url: String
    /// The size of the staging file in bytes, after decompression.
    public var bytes: Int64

    public init(status: Int, name: String?, url: String, bytes: Int64) {
        (self.status, self.name, self.url, self.bytes) = (status, name, url, bytes)
    }
}

public struct FetchFailure: Codable, Sendable, Hashable, Error {
    public enum Kind: String, Codable, Sendable {
        /// The URL or its target is at fault: a retry would fail again.
        case input
        /// The network or the server is at fault, perhaps only for a while.
        case transient
        case room
        /// The server can't continue after the bytes that an earlier attempt has received. The failed attempt has left
        /// those bytes unchanged, but the download must start over without them.
        case changed
    }

    public var kind: Kind
    public var message: String
    public var advice: String?
    /// The HTTP status, if the server answered.
    public var status: Int?
    /// Seconds after which the server allows a retry, if it has named a time.
    public var retryAfter: Int?
    /// Data with which a retry can resume the transfer.
    public var resume: FetchResume?
    /// The resume data of an earlier attempt. The data is still valid, although this attempt has received nothing.
    public var kept: FetchResume?

    public init(
        _ kind: Kind, _ message: String, advice: String? = nil, status: Int? = nil, retryAfter: Int? = nil,
        resume: FetchResume? = nil
    ) {
        (self.kind, self.message, self.advice, self.status) = (kind, message, advice, status)
        (self.retryAfter, self.resume) = (retryAfter, resume)
    }
}
