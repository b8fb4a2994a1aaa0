import Glibc
import SystemCalls

/// Whom the daemon trusts.
enum Trust {
    /// Root, the user that it runs as, and the owner of its program.
    static let owners: Set<UInt32> = {
        let program = try? FileSystem.status(FileSystem.resolved("/proc/self/exe"))
        return Set([0, geteuid()] + (program.map { [$0.owner] } ?? []))
    }()
}
