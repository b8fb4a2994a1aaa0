import SystemCalls

/// A file that may have been claimed: after an I/O error, it is unknown whether the rename succeeded.
struct UnsureClaim: Sendable {
    /// The file's path in the inbox before the claim.
    var path: String
    var before: FileStatus
    var cancelled: Bool
}
