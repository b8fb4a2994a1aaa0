import SystemCalls

/// A file that was probably claimed: an I/O error left open whether the rename succeeded.
struct UnsureClaim: Sendable {
    /// The path in the inbox.
    var path: String
    var before: FileStatus
    var cancelled: Bool
}
