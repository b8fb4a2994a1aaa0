import SystemCalls

/// A file that was taken, unless its disk has lied: it would not tell how it lies there.
struct UnsureClaim: Sendable {
    /// In the inbox.
    var path: String
    var before: FileStatus
    var cancelled: Bool
}
