import CLinux
import Glibc
import SystemCalls

/// Denies access to all paths except `Walls.readable`, as far as the running kernel's Landlock can.
enum Landlock {
    static func begin(_ walls: Walls) throws {
        let version = clinux_landlock_version()
        guard version > 0 else {
            throw WallError(absence(errno))
        }
        // A ruleset applies to the calling thread and the threads that it starts later, but not to threads that already
        // run.
        let threads = try FileSystem.names(in: "/proc/self/task").count
        let network: UInt64 = walls.connects ? 0b01 : 0b11
        let ruleset = clinux_landlock_ruleset(files(version), version >= 4 ? network : 0, version >= 6 ? 0b11 : 0)
        guard ruleset >= 0 else { throw WallError(errno) }
        let descriptor = Descriptor(owning: ruleset)
        for path in walls.readable {
            // A rule applies to the file that exists now. Links are followed.
            guard let place = try? Descriptor.open(path, O_RDONLY) else { continue }
            let isFolder = FileSystem.isFolder(path)
            guard clinux_landlock_allow(ruleset, isFolder ? readFile | readFolder : readFile, place.number) == 0 else {
                throw WallError(errno)
            }
        }
        guard clinux_landlock_restrict(descriptor.number) == 0 else { throw WallError(errno) }
        guard threads == 1 else {
            throw WallError(
                "\(threads) threads were already running, and it confines one; a plugin starts threads when loaded")
        }
    }

    /// Explains why Landlock is missing. A container's seccomp profile may make the calls fail with EPERM, or with the
    /// error of a kernel that lacks them.
    private static func absence(_ code: Int32) -> String {
        switch code {
        case EOPNOTSUPP: "it is off; add landlock to lsm= on the kernel's command line"
        case EPERM, EACCES:
            "the container's seccomp profile refuses it; allow landlock_create_ruleset, landlock_add_rule and "
                + "landlock_restrict_self"
        default: "the kernel lacks it (it came with 5.13), or the container's seccomp profile hides it"
        }
    }

    /// The bits LANDLOCK_ACCESS_FS_READ_FILE and LANDLOCK_ACCESS_FS_READ_DIR.
    private static let readFile: UInt64 = 1 << 2
    private static let readFolder: UInt64 = 1 << 3

    /// All bits of LANDLOCK_ACCESS_FS_* that this version of Landlock knows. Version 1 has 13. Version 2 added moving
    /// between folders, version 3 truncating, and version 5 ioctl on devices. Version 4 added network rules, and
    /// version 6 scopes for abstract sockets and signals; they have masks of their own.
    private static func files(_ version: Int32) -> UInt64 {
        let count =
            switch version {
            case 1: 13
            case 2: 14
            case 3, 4: 15
            default: 16
            }
        return 1 << count - 1
    }
}
